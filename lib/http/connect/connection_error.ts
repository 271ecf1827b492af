import { HttpError, type HttpErrorCode } from "../http_error.ts";
import { originPeer, type Peer } from "./connect_options.ts";

/** Patterns of TLS failures (the reasons of OpenSSL, BoringSSL, and of rustls as Deno words them), with their meanings. */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH/, "what answers does not speak TLS; is it an http: server?"],
  [/CERTIFICATE_REQUIRED/, "it asks for a client certificate: give tls.cert and tls.key"],
  [
    /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_\w+|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/,
    "it refuses the client certificate that tls.cert has",
  ],
  [/NO_APPLICATION_PROTOCOL/, "it speaks none of the protocols that were offered (ALPN)"],
  [/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, "no version of TLS in common: see tls.minVersion and tls.maxVersion"],
  [
    /HANDSHAKE_FAILURE/,
    "it refuses the handshake: no cipher suite in common, or it asks for a client certificate (tls.cert and tls.key)",
  ],
];

function explainTlsFailure(code: string, message: string, option: "tls" | "proxyTls"): string {
  const said = `${code} ${message.toUpperCase().replaceAll(" ", "_")}`;
  const known = meanings.find(([pattern]) => pattern.test(said));
  return known ? `${known[1].replaceAll("tls.", `${option}.`)} (${code})` : message.trim();
}

/** Error codes of the system, of getaddrinfo and of TLS, by their meaning. Tried in this order. */
const codePatterns: readonly (readonly [HttpErrorCode, RegExp])[] = [
  ["CERTIFICATE_EXPIRED", /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/],
  ["CERTIFICATE_HOST_MISMATCH", /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/],
  [
    "CERTIFICATE_UNTRUSTED",
    /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_)/,
  ],
  ["TLS_FAILED", /^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|ERR_BORINGSSL|EPROTO$)/],
  ["DNS_FAILED", /^(?:ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EREFUSED|ENONAME|EBADNAME|EBADRESP|EFORMERR|ENOTIMP)/],
  ["CONNECT_TIMEOUT", /^ETIMEDOUT$/],
  [
    "CONNECTION_REFUSED",
    /^(?:ECONNREFUSED|E(?:HOST|NET)(?:UNREACH|DOWN)|EADDRNOTAVAIL|EAFNOSUPPORT|EACCES|EPERM|ERR_ACCESS_DENIED|EINVAL|E[MN]FILE|ENOBUFS)$/,
  ],
];

interface SystemError {
  readonly code?: unknown;
  readonly name?: unknown;
  readonly message?: unknown;
  readonly syscall?: unknown;
  /** The errors of several addresses, in an AggregateError. */
  readonly errors?: readonly SystemError[];
}

function codeOf({ code, name, errors }: SystemError): string {
  if (typeof code === "string") return code;
  if (name === "NotCapable" || name === "PermissionDenied") return "EACCES"; // Deno without --allow-net
  return errors?.[0] ? codeOf(errors[0]) : "";
}

export function meaningOf(error: unknown): HttpErrorCode {
  const system = Object(error) as SystemError;
  const code = codeOf(system);
  const found = codePatterns.find(([, pattern]) => pattern.test(code))?.[0];
  // An established connection can fail with the same codes.
  const late = system.syscall === "read" || system.syscall === "write";
  return found === undefined || (late && !/^(?:TLS|CERT)/.test(found)) ? "CONNECTION_LOST" : found;
}

function messageOf(system: SystemError): string {
  const { code, errors, syscall } = system;
  if (code === "EPERM" && syscall === "getaddrinfo") {
    return `${system.message}; on Deno, run again with the --allow-net flag`;
  }
  const message = errors?.length ? errors.map(messageOf).join("; ") : system.message;
  return typeof message === "string" && message !== "" ? message : codeOf(system) || String(system);
}

function explain(meaning: HttpErrorCode, system: SystemError, { name, place, host, tlsOption }: Peer): string {
  const said = messageOf(system);
  const message: Partial<Record<HttpErrorCode, string>> = {
    DNS_FAILED: `Cannot look up the name ${host} of ${name}: ${said}`,
    CONNECTION_REFUSED: `Cannot connect to ${place}: ${said}`,
    CONNECT_TIMEOUT: `Cannot connect to ${place}: no answer (${said})`,
    CERTIFICATE_EXPIRED: `The certificate of ${name} is not valid now: ${said}`,
    CERTIFICATE_HOST_MISMATCH: `The certificate of ${name} is for other names: ${said}`,
    CERTIFICATE_UNTRUSTED: `The certificate of ${name} cannot be trusted: ${said}`,
    TLS_FAILED: `TLS with ${place} failed: ${explainTlsFailure(codeOf(system), said, tlsOption)}`,
  };
  return message[meaning] ?? `The connection to ${place} was lost: ${said}`;
}

/** @param error The error of `node:net` or `node:tls`; undefined if the server closed the connection without an error. */
export function toConnectionError(error: unknown, to: Peer | string): HttpError {
  if (error instanceof HttpError) return error;
  const peer = typeof to === "string" ? originPeer(to) : to;
  const { origin, name } = peer;
  if (error === undefined) {
    return new HttpError("CONNECTION_LOST", `${name.replace(/^the /, "The ")} closed the connection`, { origin });
  }
  const meaning = meaningOf(error);
  return new HttpError(meaning, explain(meaning, Object(error) as SystemError, peer), { origin, cause: error });
}
