import type { ServerResponse } from "node:http";
import type { ResponseFields } from "./policy.ts";

/** The fields of a response of `node:http` or `node:http2`. */
export class NodeFields implements ResponseFields {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  get(name: string): string | undefined {
    const value = this.#res.getHeader(name);
    return Array.isArray(value) ? value.join(", ") : value === undefined ? undefined : String(value);
  }

  set(name: string, value: string): void {
    this.#res.setHeader(name, value);
  }

  delete(name: string): void {
    this.#res.removeHeader(name);
  }
}
