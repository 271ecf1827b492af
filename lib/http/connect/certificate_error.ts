import type { PeerCertificate } from "node:tls";
import { HttpError, type HttpErrorCode } from "../http_error.ts";
import { meaningOf } from "./connection_error.ts";

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
 * What to say of a certificate that was refused.
 *
 * @param error What the runtime said.
 * @param certificate The certificate.
 * @param host The name or address that it should have been for.
 */
export function toCertificateError(
  error: Error,
  certificate: PeerCertificate,
  host: string,
  origin: string,
): HttpError {
  const { code } = error as NodeJS.ErrnoException;
  let meaning = meaningOf(error);
  const time = timeliness(certificate);
  // Deno calls certificates that expired so too.
  if (code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE" && time !== "valid") meaning = "CERTIFICATE_EXPIRED";
  const message = explain(meaning, error, certificate, host, time);
  return new HttpError(meaning, `The certificate of ${origin} ${message}`, { origin, cause: error });
}

function explain(
  meaning: HttpErrorCode,
  error: Error,
  certificate: PeerCertificate,
  host: string,
  time: "valid" | "expired" | "early",
): string {
  const by = commonName(certificate.issuer) ?? "an unnamed authority";
  if (meaning === "CERTIFICATE_HOST_MISMATCH") {
    return `is for ${
      namesOf(certificate)
    }, not for ${host}: use one of those names, or say by tls.servername which to expect`;
  }
  if (meaning === "CERTIFICATE_EXPIRED" && time === "expired") return `expired on ${certificate.valid_to}`;
  if (meaning === "CERTIFICATE_EXPIRED" && time === "early") return `is not valid before ${certificate.valid_from}`;
  if (meaning === "CERTIFICATE_EXPIRED") return `is valid, but one that it depends on is not now: ${error.message}`;
  if (/SELF_SIGNED/.test(String((error as NodeJS.ErrnoException).code))) {
    return `is signed by itself (${by}) and not trusted: give it as tls.ca if it is yours`;
  }
  return `was issued by ${by}, which is not trusted (${error.message}): give the authority's certificate as tls.ca, or ` +
    "let the server send the certificates between its own and the authority's";
}
