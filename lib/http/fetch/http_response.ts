import type { ResponseHead } from "../exchange.ts";
import type { ResponseBody } from "./response_body.ts";

/** What a response knows of its request. */
export interface ResponseInfo {
  /** Without the fragment. */
  readonly url: string;
  readonly redirected: boolean;
}

/**
 * Makes the Response that a fetch gives.
 *
 * @param body What is read; undefined where there can be none (HEAD, 204, 304).
 */
export function createResponse(head: ResponseHead, body: ResponseBody | undefined, info: ResponseInfo): Response {
  return new HttpResponse(head, body, info);
}

class HttpResponse extends Response {
  readonly #head: ResponseHead;
  readonly #body: ResponseBody | undefined;
  readonly #info: ResponseInfo;
  #headers: Headers | undefined = undefined;

  constructor(head: ResponseHead, body: ResponseBody | undefined, info: ResponseInfo) {
    super(null);
    this.#head = head;
    this.#body = body;
    this.#info = info;
  }

  override get status(): number {
    return this.#head.status;
  }

  override get statusText(): string {
    return this.#head.statusText;
  }

  override get ok(): boolean {
    return this.#head.status >= 200 && this.#head.status <= 299;
  }

  override get url(): string {
    return this.#info.url;
  }

  override get redirected(): boolean {
    return this.#info.redirected;
  }

  override get type(): ResponseType {
    return "basic";
  }

  override get headers(): Headers {
    return this.#headers ??= makeHeaders(this.#head.headers);
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    return this.#body?.stream ?? null;
  }

  override get bodyUsed(): boolean {
    return this.#body?.isUsed ?? false;
  }

  override text(): Promise<string> {
    return this.#body === undefined ? Promise.resolve("") : this.#body.read("text", "") as Promise<string>;
  }

  // deno-lint-ignore no-explicit-any -- as in the platform's own types
  override json(): Promise<any> {
    return this.#body === undefined ? super.json() : this.#body.read("json", "");
  }

  override bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#body === undefined
      ? Promise.resolve(new Uint8Array())
      : this.#body.read("bytes", "") as Promise<Uint8Array<ArrayBuffer>>;
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#body === undefined
      ? Promise.resolve(new ArrayBuffer())
      : this.#body.read("arrayBuffer", "") as Promise<ArrayBuffer>;
  }

  override blob(): Promise<Blob> {
    const type = this.headers.get("content-type") ?? "";
    return this.#body === undefined
      ? Promise.resolve(new Blob([], { type }))
      : this.#body.read("blob", type) as Promise<Blob>;
  }

  override formData(): Promise<FormData> {
    const type = this.headers.get("content-type") ?? "";
    return this.#body === undefined ? super.formData() : this.#body.read("formData", type) as Promise<FormData>;
  }
}

function makeHeaders(list: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at < list.length; at += 2) headers.append(list[at], list[at + 1]);
  return headers;
}
