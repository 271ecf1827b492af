import { startCall } from "./call/start_call.ts";
import { ClientCore } from "./client_core.ts";
import { type HttpClientOptions, resolveOptions } from "./http_client_options.ts";
import type { HttpClientStats } from "./http_events.ts";
import type { HttpRequestInit } from "./http_request.ts";
import { isRequest } from "./request/fetch_request.ts";
import type { HttpResponse } from "./response/http_response.ts";

/** The functions of restored clients, which call the `fetch` of before, by that one's property. */
const restored = new WeakMap<object, PropertyDescriptor>();

/**
 * An HTTP client with its own connections. To a server that speaks HTTP/2, all requests use one connection, as many at a time as the server allows. To other servers,
 * each request uses one connection at a time, which is kept for later requests.
 *
 * `fetch` is the standard's fetch, with bodies that stream both ways. It follows redirects, decodes bodies (zstd, br, gzip), and retries requests that a server certainly
 * did not act on, or that are idempotent. Cookies are not stored.
 * @example Ask, read, close
 * ```ts
 * import { HttpClient } from "@millrace/streams/http";
 *
 * const client = new HttpClient();
 * const response = await client.fetch("https://api.example.com/users/7", { signal: AbortSignal.timeout(5000) });
 * console.log(response.status, (await response.json()).id); // 200 7
 * await client.close();
 * ```
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113}
 * @see {@link https://www.rfc-editor.org/rfc/rfc9112}
 */
export class HttpClient {
  readonly #core: ClientCore;

  /**
   * Creates a client, which connects at the first request.
   * @param options The options for connections, requests and limits.
   * @throws {TypeError} if an option has the wrong type.
   * @throws {RangeError} if a number is out of range.
   */
  constructor(options: HttpClientOptions = {}) {
    this.#core = new ClientCore(resolveOptions(options));
    // `fetch` is passed on like other fetch functions: `new Api({ fetch: client.fetch })`.
    this.fetch = this.fetch.bind(this);
  }

  /**
   * Sends a request. The method is bound: it can be passed on as a function.
   * @param input A URL of http, https, data or blob, or a Request. A Request is sent with the length of its body, also by retries and redirects, unless its body is a
   * stream.
   * @param init The options of fetch, and `idempotent`, `timeout`, `queueTimeout`, `headersTimeout` and `bodyTimeout`.
   * @returns The response, as soon as its headers have arrived. Its body is a byte stream, received on demand: at most `streamWindow` bytes ahead of the reader. Read it
   * or cancel it.
   * @throws {HttpError} (the promise rejects) if there is no response; its `code` is the reason.
   * @throws the reason of `init.signal`, unchanged, once that is aborted.
   */
  fetch(input: string | URL | Request, init?: HttpRequestInit): Promise<HttpResponse> {
    return new Promise((resolve, reject) => startCall(this.#core, input, init, { resolve, reject }));
  }

  /**
   * Makes {@link fetch} the global `fetch`. URLs of other schemes than http and https go to the previous global one. The client must stay open.
   * @returns a function that restores the previous one. The functions of several clients may be called in any order.
   * @example Libraries that call fetch
   * ```ts
   * import { HttpClient } from "@millrace/streams/http";
   *
   * const client = new HttpClient();
   * const restore = client.install();
   * console.log((await (await fetch("https://api.example.com/users/1")).json()).id, client.stats().requests); // 1 1
   * restore();
   * await client.close();
   * ```
   */
  install(): () => void {
    const before = Object.getOwnPropertyDescriptor(globalThis, "fetch")!;
    const { fetch: other } = globalThis;
    const { fetch: own } = this;
    // Asynchronous, so that it never throws synchronously, whatever its arguments.
    const fetch = async (input: string | URL | Request, init?: HttpRequestInit): Promise<Response> => {
      const url = isRequest(input) ? input.url : String(input);
      const isOther = restored.has(fetch) || /^[\0-\x20]*(?!https?:)[a-z][a-z0-9+.-]*:/i.test(url);
      return await (isOther ? other(input, init as RequestInit) : own(input, init));
    };
    const { configurable, enumerable } = before;
    Object.defineProperty(globalThis, "fetch", { value: fetch, writable: true, configurable, enumerable });
    return () => {
      restored.set(fetch, before);
      // A fetch of other code stays the global one: it may go on to call a restored one.
      for (let to; (to = restored.get(globalThis.fetch));) Object.defineProperty(globalThis, "fetch", to);
    };
  }

  /**
   * Takes no more requests, and closes the connections once all requests have ended. A request ends with the last byte of its response, so read or cancel the bodies. A
   * body that is not read from for `closeTimeout` is cancelled.
   * @returns a promise that fulfils when the last connection is closed.
   */
  close(): Promise<void> {
    return this.#core.close();
  }

  /**
   * Closes all connections at once: unfinished requests fail with CLIENT_CLOSED.
   * @param reason The `cause` of these errors.
   */
  destroy(reason?: unknown): void {
    this.#core.destroy(reason);
  }

  /** Returns the client's current counts and totals. */
  stats(): HttpClientStats {
    return this.#core.stats();
  }

  /** Does what {@link close} does. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
