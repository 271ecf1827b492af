import { HttpError, type HttpErrorCode } from "../http_error.ts";

const UNREACHABLE =
  /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM|EINVAL|EAFNOSUPPORT)$/;
const NOT_RESOLVED = /^(?:ENOTFOUND|EAI_|ENODATA|ESERVFAIL|EDNS|EREFUSED|ENONAME|EBADNAME|EFORMERR)/;
const TLS = /^(?:ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$|ERR_BORINGSSL)/;
const UNTRUSTED =
  /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH)/;

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : "";
}

/** What an error of a socket means. */
function meaningOf(code: string): HttpErrorCode {
  if (code === "ETIMEDOUT") return "CONNECT_TIMEOUT";
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return "CERTIFICATE_EXPIRED";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "CERTIFICATE_HOST_MISMATCH";
  if (UNTRUSTED.test(code)) return "CERTIFICATE_UNTRUSTED";
  if (TLS.test(code)) return "TLS_FAILED";
  if (NOT_RESOLVED.test(code)) return "DNS_FAILED";
  if (UNREACHABLE.test(code)) return "CONNECTION_REFUSED";
  return "CONNECTION_LOST";
}

/**
 * What a socket's error means to a request.
 *
 * @param error As `node:net` or `node:tls` has it; undefined if the socket was closed without one.
 * @param origin The origin it was connected to.
 */
export function toConnectionError(error: unknown, origin: string): HttpError {
  if (error instanceof HttpError) return error;
  if (error === undefined) return new HttpError("CONNECTION_LOST", `${origin} closed the connection`, { origin });
  const text = error instanceof Error ? error.message : String(error);
  return new HttpError(meaningOf(codeOf(error)), `cannot talk to ${origin}: ${text}`, { origin, cause: error });
}
