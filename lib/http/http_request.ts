import type { HttpResponse } from "./response/http_response.ts";

/**
 * A value that can be sent as a request's body.
 * @example Bytes in pieces
 * ```ts
 * import { HttpClient, type HttpRequestBody } from "@millrace/streams/http";
 *
 * const body: HttpRequestBody = [new Uint8Array(1000), "text is sent as UTF-8"];
 * const client = new HttpClient();
 * console.log((await client.fetch("https://api.example.com/films", { method: "POST", body })).status); // 201
 * client.destroy();
 * ```
 */
export type HttpRequestBody =
  | string
  | ArrayBufferLike
  | ArrayBufferView
  | Blob
  | URLSearchParams
  | FormData
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>
  | Iterable<Uint8Array | string>;

/**
 * The options of a request in addition to its URL: those of fetch, and more. Unlisted members, such as `mode`, `credentials` and `cache` of the standard's `RequestInit`,
 * are ignored; options of the client alone, such as `proxy`, are refused.
 * @see {@link https://fetch.spec.whatwg.org/#requestinit}
 * @example A POST that may be sent twice, and must be answered soon
 * ```ts
 * import { HttpClient, type HttpRequestInit } from "@millrace/streams/http";
 *
 * const headers = { "content-type": "application/json", "idempotency-key": "f3a9" };
 * const init: HttpRequestInit = { method: "POST", headers, body: "{}", idempotent: true, headersTimeout: 5000 };
 * const client = new HttpClient();
 * console.log((await client.fetch("https://api.example.com/films", init)).status); // 201
 * client.destroy();
 * ```
 */
export interface HttpRequestInit
  extends Omit<RequestInit, "body" | "headers" | "method" | "redirect" | "signal" | "integrity" | "duplex"> {
  /**
   * The method; the standard methods are sent in upper case, others unchanged.
   * @default "GET"
   */
  method?: string;
  /** Header fields. `host` and `content-length` must match the URL and the body; `transfer-encoding` can only be `chunked`. */
  headers?: Headers | Record<string, string> | Iterable<readonly [string, string]>;
  /** The request's body. A stream may continue while the response arrives. Buffers are copied. */
  body?: HttpRequestBody | null;
  /**
   * The handling of a redirect: followed, returned to the caller, or an error.
   * @default "follow"
   */
  redirect?: "follow" | "manual" | "error";
  /** The signal that aborts the request and the body of its response. */
  signal?: AbortSignal | null;
  /**
   * The digests for the response's body, as in subresource integrity: `sha256-…`. If the body does not match, reading it whole fails; a stream fails only at its end.
   * @default none; digests other than SHA-256, SHA-384 and SHA-512 are ignored
   */
  integrity?: string;
  /** Accepted, since fetch requires it for streams. The response never waits for the body's end. */
  duplex?: "half" | "full";
  /** The client's option `timeout`, for this request. */
  timeout?: number;
  /** The client's option `queueTimeout`, for this request. */
  queueTimeout?: number;
  /** The client's option `headersTimeout`, for this request. */
  headersTimeout?: number;
  /** The client's option `bodyTimeout`, for this request. */
  bodyTimeout?: number;
  /** The client's option `maxResponseSize`, for this request. */
  maxResponseSize?: number;
  /** The client's option `decompress`, for this request. A proxy uses `false` and its own client's `accept-encoding` to pass on a body and its coding unchanged. */
  decompress?: boolean;
  /** The client's option `retries`, for this request. */
  retries?: number;
  /** The client's option `retryStatuses`, for this request. */
  retryStatuses?: readonly number[];
  /** The client's option `maxRetryAfter`, for this request. */
  maxRetryAfter?: number;
  /** The client's option `intercept`, for this request; called within the client's own. */
  intercept?: readonly HttpInterceptor[];
  /** The client's option `onInformational`, for this request. */
  onInformational?: (status: number, headers: Headers) => void;
  /**
   * Fields to send after the body, or functions that return them once the body was read. HTTP/1.1 needs `Transfer-Encoding: chunked` for them. The field `trailer`
   * announces them. Some servers and proxies drop them.
   * @default none
   */
  trailers?: Readonly<Record<string, string | (() => string | Promise<string>)>>;
  /** Called after each piece of the body that the connection has taken, at most 64 KiB; each attempt counts from 0. An exception in it is uncaught. */
  onUploadProgress?: (
    progress: {
      /** The bytes that the connection has taken. The whole body is reached once the system has it, which may still buffer it. */
      sent: number;
      /** The bytes of the whole body; undefined if unknown. */
      total: number | undefined;
    },
  ) => void;
  /**
   * Whether the request has the same effect if it is sent twice, so that it may be retried.
   * @default true for GET, HEAD, OPTIONS, PUT and DELETE
   */
  idempotent?: boolean;
}

/**
 * A request, as interceptors get it: the arguments of {@link HttpClient.fetch} as one object. `headers` is a copy, which may be changed; to change other members, pass on
 * a copy: `next({ ...request, method: "HEAD" })`.
 * @example Paths in short
 * ```ts
 * import { HttpClient, type HttpNext, type HttpRequest } from "@millrace/streams/http";
 *
 * const inFull = (request: HttpRequest, next: HttpNext) => {
 *   const url = request.url.startsWith("/") ? `https://api.example.com${request.url}` : request.url;
 *   return next({ ...request, url });
 * };
 * const client = new HttpClient({ intercept: [inFull] });
 * console.log((await (await client.fetch("/users/1")).json()).id); // 1
 * await client.close();
 * ```
 */
export interface HttpRequest extends Omit<HttpRequestInit, "intercept"> {
  /** The URL, unchanged. */
  url: string;
  /** The method. */
  method: string;
  /** Header fields, without those that the client adds. */
  headers: Headers;
}

/**
 * Passes a request to the next interceptor, or after the last one to the server. It may be called several times if the request's body can be sent again, even after the
 * caller got a response.
 * @example Ask a second time
 * ```ts
 * import { HttpClient, type HttpNext, type HttpRequest } from "@millrace/streams/http";
 *
 * async function twice(request: HttpRequest, next: HttpNext): Promise<Response> {
 *   const first = await next(request);
 *   if (first.status !== 503) return first;
 *   await first.body?.cancel(); // or its connection stays busy
 *   return await next(request);
 * }
 * const client = new HttpClient({ intercept: [twice] });
 * console.log((await client.fetch("https://api.example.com/users/1")).status); // 200
 * client.destroy();
 * ```
 */
export type HttpNext = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * A function around requests, which can change a request, change its response, or return another response. The call's `signal`, its `timeout` and `destroy()` end the
 * call even while an interceptor waits.
 * @example Log each request
 * ```ts
 * import { HttpClient, type HttpInterceptor } from "@millrace/streams/http";
 *
 * const tell: HttpInterceptor = async (request, next) => {
 *   const response = await next(request);
 *   console.log(request.method, response.status); // GET 200
 *   return response;
 * };
 * const client = new HttpClient({ intercept: [tell] });
 * await (await client.fetch("https://api.example.com/users/1")).text();
 * await client.close();
 * ```
 */
export type HttpInterceptor = (request: HttpRequest, next: HttpNext) => Promise<Response> | Response;
