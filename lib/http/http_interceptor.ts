import type { HttpRequestInit } from "./request/http_request_init.ts";
import type { HttpResponse } from "./response/http_response.ts";

/**
 * A request as interceptors see it: what {@link HttpClient.fetch} was called with, as one object. `headers` is a copy, which may be
 * changed; to change anything else, pass on a copy: `next({ ...request, method: "HEAD" })`.
 *
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
  /** The URL, as it was given. */
  url: string;
  /** The method. */
  method: string;
  /** Header fields, without those that the client adds. */
  headers: Headers;
}

/**
 * Passes a request on to the next interceptor, and after the last one to the server. It may be called more than once if the request's
 * body can be sent again, even after the call has been answered.
 *
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
 * A function around requests: it sees and changes them on their way out, and responses on their way back, or answers by itself.
 * The call's `signal`, its `timeout` and `destroy()` end it, whatever an interceptor waits for.
 *
 * @example Answer from memory
 * ```ts
 * import { HttpClient, type HttpInterceptor } from "@millrace/streams/http";
 *
 * const kept = new Map<string, Response>();
 * const cache: HttpInterceptor = async (request, next) => {
 *   const known = kept.get(request.url);
 *   if (known !== undefined) return known.clone();
 *   const response = await next(request);
 *   if (response.ok) kept.set(request.url, new Response(await response.clone().bytes(), response));
 *   return response;
 * };
 * const client = new HttpClient({ intercept: [cache] });
 * for (let i = 0; i < 3; i++) await (await client.fetch("https://www.example.com/page.html")).text();
 * console.log(client.stats().requests); // 1
 * await client.close();
 * ```
 */
export type HttpInterceptor = (request: HttpRequest, next: HttpNext) => Promise<Response> | Response;
