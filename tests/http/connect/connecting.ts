import assert from "node:assert/strict";
import type { ConnectOptions } from "../../../lib/http/connect/connect_options.ts";
import { openTransport } from "../../../lib/http/connect/open_transport.ts";
import { HttpError } from "../../../lib/http/http_error.ts";
import type { Transport } from "../../../lib/http/connection.ts";
import type { HttpTlsOptions } from "../../../lib/http/tls_options.ts";
import { certificates } from "../certificates.ts";

/** TLS options that trust the tests' authority; the same object each time, so that sessions are shared. */
export const trusting: HttpTlsOptions = { ca: certificates.ca };

/** Connects without TLS. */
export function connectTcp(
  port: number,
  options: Partial<ConnectOptions> = {},
  host = "127.0.0.1",
): Promise<Transport> {
  return openTransport({ secure: false, host, port }, { tls: {}, alpn: [], timeout: 5_000, ...options });
}

/** Connects with TLS. */
export function connectTls(
  port: number,
  tls: HttpTlsOptions = trusting,
  options: Partial<ConnectOptions> = {},
  host = "localhost",
): Promise<Transport> {
  return openTransport({ secure: true, host, port }, { tls, alpn: ["h2", "http/1.1"], timeout: 5_000, ...options });
}

/** Returns the error that an attempt to connect ends with. */
export async function failure(attempt: Promise<Transport>): Promise<HttpError> {
  const error = await attempt.then(() => assert.fail("it connected"), (error: unknown) => error);
  assert.ok(error instanceof HttpError, String(error));
  assert.ok(error.cause instanceof Error);
  return error;
}
