import { connect, type ConnectionOptions, type PeerCertificate } from "node:tls";

/** Most milliseconds to wait for a certificate that only a message is made of. */
const PATIENCE = 1_000;

/**
 * Fetches the certificate of a server that was refused, for the error's message: no runtime shows it to who refuses it, and Deno does
 * not even say whether it expired. Nothing is sent on this connection, not even a client certificate, and it is closed at once.
 *
 * @param settings Those that the server was refused with.
 * @returns the certificate; undefined if it cannot be had now.
 */
export function inspectCertificate(settings: ConnectionOptions): Promise<PeerCertificate | undefined> {
  return new Promise((resolve) => {
    const { host, port, lookup, servername, ALPNProtocols } = settings;
    const lax = { host, port, servername, ALPNProtocols, rejectUnauthorized: false, autoSelectFamily: true };
    const socket = connect(lookup ? { ...lax, lookup } : lax);
    const timer = setTimeout(() => done(undefined), PATIENCE);
    const done = (certificate: PeerCertificate | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(certificate);
    };
    socket.on("secureConnect", () => done(socket.getPeerCertificate() ?? undefined));
    socket.on("error", () => done(undefined)); // the first error is the one to tell of
    socket.on("close", () => done(undefined));
  });
}
