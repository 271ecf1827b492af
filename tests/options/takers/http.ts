import { httpClientOptions } from "../../../lib/http/http_client_options.ts";
import { HttpClient } from "../../../lib/http/mod.ts";
import { requestOptions } from "../../../lib/http/request/fetch_request.ts";
import { httpTlsOptions } from "../../../lib/http/tls_options.ts";
import type { Taker } from "../taker.ts";

const client = new HttpClient();

export const takers: readonly Taker[] = [
  { schema: httpClientOptions, options: "HttpClientOptions", take: (options) => new HttpClient(options) },
  { schema: httpTlsOptions, options: "HttpTlsOptions", take: (tls) => new HttpClient({ tls }) },
  { schema: httpTlsOptions, options: "HttpTlsOptions", take: (proxyTls) => new HttpClient({ proxyTls }) },
  {
    schema: requestOptions,
    options: "HttpRequestInit",
    ignoresUnknown: true,
    unchecked: ["method", "headers", "body", "signal", "integrity"],
    take: (init) => client.fetch("http://127.0.0.1:2/", init),
  },
];
