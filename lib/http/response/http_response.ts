import { globalClass, type NativeSide, responseShell } from "../../runtime/mod.ts";
import { ReadableStream } from "../../streams/mod.ts";
import type { ResponseHead } from "../connection.ts";
import { ByteQueue } from "./byte_queue.ts";
import { convertWhole, ReadableBody, type WholeKind } from "./readable_body.ts";
import type { ResponseBody } from "./response_body.ts";
import { fieldsToSendOn, responseHeaders } from "./response_headers.ts";

/**
 * The response of {@link HttpClient.fetch}.
 * @example Fields that come after the body
 * ```ts
 * import { HttpClient, type HttpResponse } from "@millrace/streams/http";
 *
 * const client = new HttpClient();
 * const response: HttpResponse = await client.fetch("https://api.example.com/log");
 * console.log((await response.text()).length); // 8
 * console.log((await response.trailers).get("x-lines")); // 2
 * await client.close();
 * ```
 */
export interface HttpResponse extends Response {
  /**
   * The trailer fields, which a server sends after the body: empty if there are none. The promise settles with the body's end, so read the body first. It rejects with
   * the error of the body or the reason of its cancellation, which need not be handled.
   */
  readonly trailers: Promise<Headers>;
  /** Returns a copy of the response, to be read independently, with the same trailers. */
  clone(): HttpResponse;
}

interface ResponseInfo {
  readonly url: string;
  readonly redirected: boolean;
}

type Inspect = (value: unknown, options?: unknown) => string;

/** Makes the Response of a fetch; `body` is undefined if there cannot be one (HEAD, 204, 304). */
export function createResponse(head: ResponseHead, body: ResponseBody | undefined, info: ResponseInfo): HttpResponse {
  const readable = body === undefined ? undefined : new ReadableBody(body);
  const response = new (FetchedResponse ??= makeFetchedResponse())(head, readable, info);
  readable?.watch(response);
  return response;
}

type FetchedResponseClass = new (
  head: ResponseHead,
  body: ReadableBody | undefined,
  info: ResponseInfo,
) => HttpResponse;

const loadResponse: () => typeof Response = globalClass("Response");

/** The class, made with the first response: Node takes 15 ms to load the Response that it extends. */
let FetchedResponse: FetchedResponseClass | undefined;

function makeFetchedResponse(): FetchedResponseClass {
  const Response = loadResponse();
  /** A Response whose parts are made at their first use. */
  class FetchedResponse extends responseShell() implements HttpResponse, NativeSide {
    readonly #head: ResponseHead;
    readonly #body: ReadableBody | undefined;
    readonly #info: ResponseInfo;
    #headers: Headers | undefined = undefined;
    #trailers: Promise<Headers> | undefined = undefined;

    constructor(head: ResponseHead, body: ReadableBody | undefined, info: ResponseInfo) {
      super(() => ({
        status: statusToSendOn(head.status),
        statusText: head.statusText,
        headers: fieldsToSendOn(head.headers, body?.isDecoded === true),
        body: body ?? null,
      }));
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
      return this.#headers ??= responseHeaders(this.#head.headers);
    }

    get trailers(): Promise<Headers> {
      return this.#trailers ??= this.#body?.trailers ?? Promise.resolve(responseHeaders([]));
    }

    override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
      return this.#body?.stream ?? null;
    }

    override get bodyUsed(): boolean {
      return this.#body?.isUsed ?? false;
    }

    override text(): Promise<string> {
      return this.#read("text") as Promise<string>;
    }

    // deno-lint-ignore no-explicit-any -- as in the platform's own types
    override json(): Promise<any> {
      return this.#read("json");
    }

    override bytes(): Promise<Uint8Array<ArrayBuffer>> {
      return this.#read("bytes") as Promise<Uint8Array<ArrayBuffer>>;
    }

    override arrayBuffer(): Promise<ArrayBuffer> {
      return this.#read("arrayBuffer") as Promise<ArrayBuffer>;
    }

    override blob(): Promise<Blob> {
      return this.#read("blob") as Promise<Blob>;
    }

    override formData(): Promise<FormData> {
      return this.#read("formData") as Promise<FormData>;
    }

    /** Returns the body as a stream of text: https://fetch.spec.whatwg.org/#dom-body-textstream */
    textStream(): globalThis.ReadableStream<string> {
      const stream = this.body ?? ReadableStream.from([]);
      return stream.pipeThrough(new TextDecoderStream());
    }

    override clone(): HttpResponse {
      const copy = this.#body?.clone();
      const response = new FetchedResponse(this.#head, copy, this.#info);
      this.#body?.watch(this);
      copy?.watch(response);
      return response;
    }

    makeNativeSide(): Response {
      const { statusText, headers } = this.#head;
      const status = statusToSendOn(this.#head.status);
      const body = this.#body;
      const content = body === undefined ? null : body.copyArrived() ?? body.stream;
      const native = new Response(content, { status, statusText });
      const fields = fieldsToSendOn(headers, body?.isDecoded === true);
      for (let at = 0; at < fields.length; at += 2) native.headers.append(fields[at], fields[at + 1]);
      return native;
    }

    [Symbol.for("nodejs.util.inspect.custom")](_depth: number, options: unknown, inspect: Inspect): string {
      return this.#shown(inspect, options);
    }

    [Symbol.for("Deno.customInspect")](inspect: Inspect, options: unknown): string {
      return this.#shown(inspect, options);
    }

    #read(kind: WholeKind): Promise<unknown> {
      const contentType = kind === "blob" || kind === "formData" ? this.headers.get("content-type") ?? "" : "";
      if (this.#body !== undefined) return this.#body.readWhole(kind, contentType);
      return new Promise((resolve) => resolve(convertWhole(new ByteQueue(), kind, contentType)));
    }

    /** Shows the response without the body's stream, which is made only at its first use. */
    #shown(inspect: Inspect, options: unknown): string {
      const { status, statusText, bodyUsed, ok, redirected, type, url } = this;
      const headers = Object.fromEntries(this.headers); // Bun's inspect() does not show the content of Headers
      const body = this.#body === undefined ? null : this.#body.madeStream ?? "[ReadableStream]";
      const members = { status, statusText, headers, body, bodyUsed, ok, redirected, type, url };
      return `Response ${inspect(members, options)}`;
    }
  }
  // For users that make another response of the class of this one.
  const { prototype } = FetchedResponse;
  Object.defineProperty(prototype, "constructor", { value: Response, writable: true, configurable: true });
  return FetchedResponse;
}

/** Returns a status for a server's own response: above 599, clients would take it for 5xx (RFC 9110 section 15). */
function statusToSendOn(status: number): number {
  return status > 599 ? 500 : status;
}
