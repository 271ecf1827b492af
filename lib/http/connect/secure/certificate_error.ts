import type { PeerCertificate } from "node:tls";
import { HttpError, type HttpErrorCode } from "../../http_error.ts";
import { meaningOf } from "../connection_error.ts";
import type { Peer } from "../peer.ts";

/** Whether a certificate is of the right time, or which side it is off. */
function timeliness(certificate: PeerCertificate): "valid" | "expired" | "early" {
  if (Date.parse(certificate.valid_to) < Date.now()) return "expired";
  return Date.parse(certificate.valid_from) > Date.now() ? "early" : "valid";
}

function namesOf({ subject, subjectaltname }: PeerCertificate): string {
  if (subjectaltname) return subjectaltname.replaceAll(/(?:DNS|IP Address):/g, "");
  return commonName(subject) ?? "no name";
}

function commonName(name: PeerCertificate["subject"] | undefined): string | undefined {
  const { CN } = Object(name) as { CN?: string | string[] };
  return Array.isArray(CN) ? CN.join(", ") : CN;
}

/**
 * Returns the HttpError for a certificate that was refused.
 *
 * @param error The runtime's error.
 * @param certificate The certificate.
 * @param host The name or address that it should have been for.
 */
export function toCertificateError(
  error: Error,
  certificate: PeerCertificate,
  host: string,
  peer: Peer,
): HttpError {
  const { code } = error as NodeJS.ErrnoException;
  let meaning = meaningOf(error);
  const time = timeliness(certificate);
  // Deno calls certificates that expired so too.
  if (code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE" && time !== "valid") meaning = "CERTIFICATE_EXPIRED";
  const message = explain(meaning, { error, certificate, host, time, option: peer.tlsOption });
  const { origin, name } = peer;
  return new HttpError(meaning, `The certificate of ${name} ${message}`, { origin, cause: error });
}

interface Refusal {
  readonly error: Error;
  readonly certificate: PeerCertificate;
  readonly host: string;
  readonly time: "valid" | "expired" | "early";
  /** The option that says how TLS is spoken with the server. */
  readonly option: "tls" | "proxyTls";
}

function explain(meaning: HttpErrorCode, { error, certificate, host, time, option }: Refusal): string {
  const by = commonName(certificate.issuer) ?? "an unnamed authority";
  if (meaning === "CERTIFICATE_HOST_MISMATCH") {
    return `is for ${
      namesOf(certificate)
    }, not for ${host}: use one of those names, or say by ${option}.servername which to expect`;
  }
  if (meaning === "CERTIFICATE_EXPIRED" && time === "expired") return `expired on ${certificate.valid_to}`;
  if (meaning === "CERTIFICATE_EXPIRED" && time === "early") return `is not valid before ${certificate.valid_from}`;
  if (meaning === "CERTIFICATE_EXPIRED") return `is valid, but one that it depends on is not now: ${error.message}`;
  if (/SELF_SIGNED/.test(String((error as NodeJS.ErrnoException).code))) {
    return `is signed by itself (${by}) and not trusted: give it as ${option}.ca if it is yours`;
  }
  return `was issued by ${by}, which is not trusted (${error.message}): give the authority's certificate as ${option}.ca, or ` +
    "let the server send the certificates between its own and the authority's";
}
