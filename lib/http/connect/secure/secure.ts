import { HttpError } from "../../http_error.ts";
import type { HttpTlsOptions } from "../../tls_options.ts";
import type { ConnectAttempt } from "../connect_attempt.ts";
import { toConnectionError } from "../connection_error.ts";
import { dialError, watchLookup } from "../dial.ts";
import type { Peer } from "../peer.ts";
import { socketEvent } from "../socket_event.ts";
import { toCertificateError } from "./certificate_error.ts";
import { inspectCertificate } from "./inspect_certificate.ts";
import { type SecureTarget, TlsAttempt, type TlsBase } from "./tls_attempt.ts";

/** The connection that TLS is spoken over. */
export interface SecureWay {
  readonly attempt: ConnectAttempt;
  /** Gives a connected stream, or the options by which `node:tls` connects by itself. Called again to look at a certificate. */
  readonly reach: () => Promise<TlsBase>;
}

/**
 * Agrees on TLS with a server, and checks its certificate.
 *
 * @throws {HttpError} if there is no connection, no TLS, or the certificate is not good.
 */
export async function secure(
  { attempt, reach }: SecureWay,
  target: SecureTarget,
  options: HttpTlsOptions,
): Promise<TlsAttempt> {
  const { peer } = target;
  const tls = begin(await reach(), target, options, attempt);
  try {
    await socketEvent(tls.socket, "secureConnect");
  } catch (error) {
    if (error !== undefined && tls.refusal) throw pinned(tls.refusal, peer);
    const reason = dialError(error, peer, attempt);
    if (!(error instanceof Error) || !reason.code.startsWith("CERTIFICATE")) throw reason;
    // The socket is gone; the deadline and the signal still hold.
    const certificate = "cert" in error ? tls.certificate() : await inspectCertificate(reach, tls.settings, attempt);
    throw certificate?.raw ? toCertificateError(error, certificate, tls.expectedName, peer) : reason;
  }
  const wrong = tls.unheeded;
  if (tls.refusal) throw pinned(tls.refusal, peer);
  if (wrong) throw toCertificateError(wrong, tls.certificate()!, tls.expectedName, peer);
  if (tls.askedForIdentity) return tls;
  const { origin, name, tlsOption } = peer;
  const message =
    `Cannot use ${tlsOption}.checkServerIdentity with ${name}: this version of the runtime does not call it`;
  throw new HttpError("TLS_FAILED", message, { origin });
}

function begin(base: TlsBase, target: SecureTarget, options: HttpTlsOptions, attempt: ConnectAttempt): TlsAttempt {
  let tls: TlsAttempt;
  try {
    tls = new TlsAttempt(base, target, options);
  } catch (error) { // options that TLS cannot use
    throw toConnectionError(error, target.peer);
  }
  const { socket } = tls;
  attempt.own(socket);
  const stage = target.peer.tlsOption === "proxyTls" ? "TLS with the proxy" : "TLS";
  if ("socket" in base) {
    attempt.stage = stage;
  } else {
    watchLookup(socket, attempt);
    socket.on("connect", () => attempt.stage = stage);
  }
  return tls;
}

function pinned(refusal: Error, { origin, name, tlsOption }: Peer): HttpError {
  const message = `The certificate of ${name} was refused by ${tlsOption}.checkServerIdentity: ${refusal.message}`;
  return new HttpError("CERTIFICATE_UNTRUSTED", message, { origin, cause: refusal });
}
