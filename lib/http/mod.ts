/**
 * An HTTP client that multiplexes: one HTTP/2 connection for a burst of requests, with streams in both directions.
 *
 * @example A burst of requests
 * ```ts
 * import { HttpClient } from "@millrace/streams/http";
 *
 * const client = new HttpClient();
 * const names = await Promise.all([1, 2, 3].map(async (id) => {
 *   const response = await client.fetch(`https://api.example.com/users/${id}`);
 *   return (await response.json()).name;
 * }));
 * console.log(names.length); // 3
 * await client.close();
 * ```
 *
 * @module
 */
export { HttpClient } from "./http_client.ts";
export type { HttpAddressUse } from "./connect/allowed_addresses.ts";
export type { HttpClientOptions, HttpConnectFunction } from "./http_client_options.ts";
export type { HttpInterceptor, HttpNext, HttpRequest, HttpRequestBody, HttpRequestInit } from "./http_request.ts";
export type { HttpResponse } from "./response/http_response.ts";
export type { HttpClientEvent, HttpClientStats, HttpOriginStats } from "./http_events.ts";
export { HttpError, type HttpErrorCode } from "./http_error.ts";
export type { HttpTlsOptions } from "./tls_options.ts";
