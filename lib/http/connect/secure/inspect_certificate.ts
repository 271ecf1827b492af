import { connect, type ConnectionOptions, type PeerCertificate } from "node:tls";
import type { ConnectAttempt } from "../connect_attempt.ts";
import type { TlsBase } from "./tls_attempt.ts";

/** Most milliseconds to wait for a certificate that only a message is made of. */
const PATIENCE = 1_000;

/**
 * Fetches the certificate of a server that was refused, for the error's message: no runtime shows it to who refuses it, and Deno does
 * not even say whether it expired. Nothing is sent on this connection, not even a client certificate, and it is closed at once. It
 * takes the way that the other took, so that what goes by a proxy does.
 *
 * @param reach Returns the base for a TLS connection.
 * @param settings The TLS settings with which the server was refused.
 * @returns the certificate; undefined if it cannot be had now.
 */
export function inspectCertificate(
  reach: () => Promise<TlsBase>,
  settings: ConnectionOptions,
  attempt: ConnectAttempt,
): Promise<PeerCertificate | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), PATIENCE);
    inspect(reach, settings, attempt).then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer));
  });
}

async function inspect(
  reach: () => Promise<TlsBase>,
  { host, servername, ALPNProtocols }: ConnectionOptions,
  attempt: ConnectAttempt,
): Promise<PeerCertificate | undefined> {
  const base = await reach();
  const lax = { host, servername, ALPNProtocols, rejectUnauthorized: false };
  const socket = attempt.own(connect({ ...base, ...lax }));
  return await new Promise((resolve) => {
    const done = (certificate: PeerCertificate | undefined): void => {
      socket.destroy();
      if ("socket" in base) base.socket.destroy();
      resolve(certificate);
    };
    socket.on("secureConnect", () => done(socket.getPeerCertificate() ?? undefined));
    socket.on("error", () => done(undefined)); // the first error is the one to tell of
    socket.on("close", () => done(undefined));
  });
}
