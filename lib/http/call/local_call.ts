import { resolveObjectURL, resolvesObjectURLs } from "../../runtime/mod.ts";
import { ANSWERED, type Caller, type CallOwner, type LiveCall } from "../calls.ts";
import type { ClientCore } from "../client_core.ts";
import type { HeaderList, ResponseHead } from "../connection.ts";
import { Deadline } from "../../timers/mod.ts";
import { HttpError } from "../http_error.ts";
import type { FetchRequest } from "../request/fetch_request.ts";
import { type BodyControl, type Failure, ResponseBody } from "../response/response_body.ts";
import { joinedField } from "../response/response_headers.ts";
import { buildResponse } from "./build_response.ts";
import { readDataUrl } from "./data_url.ts";

/** From a byte to another, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The one range of a Range field's value; undefined if it asks for none, for several, or for bytes beyond the size.
 *
 * @see {@link https://fetch.spec.whatwg.org/#simple-range-header-value}
 */
function byteRange(value: string, size: number): ByteRange | undefined {
  const [, from, to] = /^bytes=[\t ]*([0-9]*)[\t ]*-[\t ]*([0-9]*)$/i.exec(value) ?? [];
  if (from === undefined || (from === "" && to === "")) return undefined;
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return first <= last ? { first, last } : undefined;
}

type BlobReader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * A call of fetch for a data: or blob: URL, which is answered from memory or from a file that a Blob stands for. It owns the reading of
 * the Blob, which the signal, the timeout and the client end.
 *
 * @see {@link https://fetch.spec.whatwg.org/#scheme-fetch}
 */
export class LocalCall implements LiveCall, BodyControl {
  previousCall: LiveCall | undefined = undefined;
  nextCall: LiveCall | undefined = undefined;
  readonly #core: ClientCore;
  readonly #request: FetchRequest;
  #caller: Caller;
  readonly #owner: CallOwner;
  readonly #body: ResponseBody = new ResponseBody(this);
  #reader: BlobReader | undefined = undefined;
  /** Bytes of the Blob that are still to come. */
  #left = 0;
  #total: Deadline | undefined = undefined;
  #isReading = false;
  #isOver = false;

  constructor(core: ClientCore, request: FetchRequest, caller: Caller, owner: CallOwner = core) {
    this.#core = core;
    this.#request = request;
    this.#caller = caller;
    this.#owner = owner;
  }

  start(): void {
    const { signal, url, body, limits: { timeout } } = this.#request;
    this.#owner.onBegin(this);
    if (body !== undefined && !body.replayable) body.open().cancel(undefined); // nobody to send it to
    if (signal?.aborted) return this.#fail(signal.reason);
    signal?.addEventListener("abort", this);
    if (timeout > 0) this.#total = new Deadline(this.#core.deadlinesOf(timeout), () => this.#onTimeout(timeout));
    const href = url.href.replace(/#.*$/s, "");
    if (url.protocol === "data:") this.#answerData(href);
    else this.#answerBlob(href);
  }

  abort(reason: unknown): void {
    this.#fail(reason);
  }

  handleEvent(): void {
    this.#fail(this.#request.signal!.reason);
  }

  onDestroyed(): void {
    this.#fail(this.#core.closedError(this.#request.origin));
  }

  // What the response's body tells.

  consumed(): void {
    // What is wanted next will be asked for.
  }

  wanted(): void {
    if (this.#isReading || this.#isOver) return;
    this.#isReading = true;
    this.#reader!.read().then(({ done, value }) => {
      this.#isReading = false;
      // On Bun 1.3 the stream of a slice goes on to the end of what it is a slice of.
      if (done || this.#left === 0) return this.#finish();
      const bytes = value.length > this.#left ? value.subarray(0, this.#left) : value;
      this.#left -= bytes.length;
      if (bytes.length > 0) this.#body.push(bytes);
      else this.wanted();
    }, (cause) => {
      const message = `The Blob of ${this.#request.url.href} cannot be read: ${(cause as Error)?.message ?? cause}`;
      this.#fail(new HttpError("BODY_FAILED", message, { origin: this.#request.origin, cause }));
    });
  }

  cancel(): void {
    this.#end();
  }

  revoked(): Failure | undefined {
    const { signal, origin } = this.#request;
    if (signal?.aborted) return { reason: signal.reason };
    return this.#core.destroyed ? { reason: this.#core.closedError(origin) } : undefined;
  }

  #answerData(href: string): void {
    const data = readDataUrl(href);
    if (data === undefined) return this.#failUrl("it is no data: URL as it should be");
    this.#body.push(data.bytes);
    this.#body.end();
    this.#answer(200, "OK", ["content-type", data.mimeType]);
    this.#end();
  }

  #answerBlob(href: string): void {
    if (!resolvesObjectURLs()) return this.#failUrl("this runtime's version finds no Blob by its URL");
    const blob = resolveObjectURL(href);
    if (this.#request.method !== "GET") return this.#failUrl("blob: URLs can be fetched with GET only");
    if (blob === undefined) return this.#failUrl("there is no Blob of this name, or not any more");
    const { size } = blob;
    const wanted = joinedField(this.#request.headers, "range");
    const range = wanted === "" ? undefined : byteRange(wanted, size);
    if (wanted !== "" && range === undefined) return this.#failUrl(`its Blob has no ${wanted}`);
    const part = range === undefined ? blob : blob.slice(range.first, range.last + 1);
    this.#left = part.size;
    this.#reader = part.stream().getReader() as BlobReader;
    const fields = ["content-length", String(part.size), "content-type", blob.type];
    if (range === undefined) return this.#answer(200, "OK", fields);
    fields.push("content-range", `bytes ${range.first}-${range.last}/${size}`);
    this.#answer(206, "Partial Content", fields);
  }

  #answer(status: number, statusText: string, headers: HeaderList): void {
    const head: ResponseHead = { status, statusText, headers };
    const terms = { decompress: false, redirected: false };
    try {
      const body = this.#request.method === "HEAD" ? undefined : this.#body;
      const response = buildResponse(this.#request, head, body, terms);
      const { resolve } = this.#caller;
      // As in a call: nothing that the client holds may lead to the response.
      this.#caller = ANSWERED;
      resolve(response);
    } catch (error) {
      this.#fail(error);
    }
  }

  #onTimeout(ms: number): void {
    const message = `${this.#request.url.href} took more than ${ms} ms (timeout)`;
    this.#fail(new HttpError("TIMEOUT", message, { origin: this.#request.origin }));
  }

  #failUrl(why: string): void {
    const { url: { href }, origin } = this.#request;
    const shown = href.length > 200 ? `${href.slice(0, 200)}…` : href;
    this.#fail(new HttpError("INVALID_URL", `Cannot fetch ${shown}: ${why}`, { origin }));
  }

  /** The Blob's end. */
  #finish(): void {
    this.#body.end();
    this.#end();
  }

  /** Whoever waits for the response, or for more of its body, gets the reason; who has it all has it. */
  #fail(reason: unknown): void {
    if (this.#isOver) return;
    this.#end();
    this.#body.fail(reason);
    this.#caller.reject(reason);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#total?.stop();
    this.#request.signal?.removeEventListener("abort", this);
    this.#reader?.cancel().catch(() => {}); // it has ended, or is of no use any more
    this.#owner.onEnd(this);
  }
}

/** Whether a URL, as it is given to fetch, is one of data: or blob:. */
export function isLocal(url: string): boolean {
  return !url.startsWith("http") && /^[\0-\x20]*(?:data|blob):/i.test(url);
}
