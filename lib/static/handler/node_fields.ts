import type { IncomingHttpHeaders } from "node:http";
import type { RequestFields } from "../answer/request_fields.ts";

/** The fields of a request to `node:http`, read as `Headers` are. */
export class NodeFields implements RequestFields {
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders) {
    this.#headers = headers;
  }

  get(name: string): string | undefined {
    return this.#headers[name] as string | undefined; // only Set-Cookie is an array
  }
}
