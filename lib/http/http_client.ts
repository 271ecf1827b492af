import { startCall } from "./call/start_call.ts";
import { ClientCore } from "./client_core.ts";
import { type HttpClientOptions, resolveOptions } from "./http_client_options.ts";
import type { HttpClientStats } from "./http_events.ts";
import type { HttpRequestInit } from "./http_request.ts";
import { isRequest } from "./request/fetch_request.ts";
import type { HttpResponse } from "./response/http_response.ts";

/**
 * An HTTP client with connections of its own. To a server that speaks HTTP/2 all requests go on one connection, as many at a time as
 * the server allows; to others each goes on a connection that is kept for the next.
 *
 * `fetch` is the fetch that you know, with bodies that stream both ways. It follows redirects, decodes bodies (zstd, br, gzip), and
 * sends requests again that a server certainly did not act on, or that are idempotent. Cookies are left to you.
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
   * Makes a client. It opens no connection before the first request.
   * @param options How it connects and what it allows.
   * @throws {TypeError} if an option has the wrong type.
   * @throws {RangeError} if a number is out of range.
   */
  constructor(options: HttpClientOptions = {}) {
    this.#core = new ClientCore(resolveOptions(options));
    // It is passed on as other fetch functions are: `new Api({ fetch: client.fetch })`.
    this.fetch = this.fetch.bind(this);
  }

  /**
   * Sends a request. It can be taken from the client and called as a function.
   * @param input A URL of http, https, data or blob, or a Request. Unless that was made of a stream, it is sent with the length of its
   * body, and retries and redirects can send it again.
   * @param init The options of fetch, and `idempotent`, `timeout`, `queueTimeout`, `headersTimeout` and `bodyTimeout`.
   * @returns The response, as soon as its headers are there. Its body comes as it is read: a byte stream. While it is
   * not read, at most `streamWindow` bytes of it are received; read it or cancel it.
   * @throws {HttpError} (the promise rejects) if there is no response, with a `code` that says why.
   * @throws the reason of `init.signal`, as it is, once that is aborted.
   */
  fetch(input: string | URL | Request, init?: HttpRequestInit): Promise<HttpResponse> {
    return new Promise((resolve, reject) => startCall(this.#core, input, init, { resolve, reject }));
  }

  /**
   * Makes {@link fetch} the global `fetch`, for all code that calls that. URLs of other schemes than http and https go to
   * the global one before. The client must stay open as long.
   * @returns a function that puts the global one before back. Call those of several clients in reverse order.
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
    // Asynchronous so that it never throws at once, whatever its arguments are.
    const fetch = async (input: string | URL | Request, init?: HttpRequestInit): Promise<Response> => {
      const url = isRequest(input) ? input.url : String(input);
      const isOther = /^[\0-\x20]*(?!https?:)[a-z][a-z0-9+.-]*:/i.test(url);
      return await (isOther ? other(input, init as RequestInit) : own(input, init));
    };
    const { configurable, enumerable } = before;
    Object.defineProperty(globalThis, "fetch", { value: fetch, writable: true, configurable, enumerable });
    return () => { // unless another has taken the place meanwhile
      if (globalThis.fetch === fetch as unknown) Object.defineProperty(globalThis, "fetch", before);
    };
  }

  /**
   * Takes no more requests, and closes the connections once those under way have ended: each with the last byte of its response, so
   * read or cancel the bodies. A body that is not read from for `closeTimeout` is cancelled.
   * @returns fulfilled when the last connection is closed.
   */
  close(): Promise<void> {
    return this.#core.close();
  }

  /**
   * Ends everything at once: requests under way fail with CLIENT_CLOSED.
   * @param reason Their errors' cause.
   */
  destroy(reason?: unknown): void {
    this.#core.destroy(reason);
  }

  /** Counts what the client is doing, and has done. */
  stats(): HttpClientStats {
    return this.#core.stats();
  }

  /** Does what {@link close} does. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
