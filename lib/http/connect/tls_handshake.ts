import { isIP, type TcpNetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { checkServerIdentity, connect, type ConnectionOptions, type PeerCertificate, type TLSSocket } from "node:tls";
import { endsWithin } from "../../timers/mod.ts";
import { atOnce, CallContext } from "../calls.ts";
import { HttpError, type HttpErrorCode } from "../http_error.ts";
import { type HttpTlsOptions, TlsContext } from "../tls_options.ts";
import { type ConnectAttempt, socketEvent } from "./connect_attempt.ts";
import type { Peer } from "./connect_options.ts";
import { meaningOf, toConnectionError } from "./connection_error.ts";
import { dialError, type DialTarget, watchLookup } from "./dial.ts";

/** The base of a TLS connection: a connected stream, or options with which `node:tls` connects itself, for a fifth less CPU on Bun. */
export type TlsBase = { readonly socket: Duplex } | TcpNetConnectOpts;

interface SecureTarget extends DialTarget {
  readonly alpn: readonly string[];
}

export class TlsAttempt {
  readonly socket: TLSSocket;
  readonly settings: ConnectionOptions;
  readonly expectedName: string;
  /** The error of the options' checkServerIdentity, if it refused the certificate. */
  refusal: Error | undefined;
  readonly #options: HttpTlsOptions;
  /** The context in which the user's checkServerIdentity is called: sockets lose it on Deno. */
  readonly #callContext: CallContext | undefined;
  readonly #context: TlsContext;
  readonly #server: string;
  #certificate: PeerCertificate | undefined;
  #checked = false;
  #wrong: Error | undefined;

  /** Starts the handshake, or the connection. @throws {Error} if the options cannot be used. */
  constructor(base: TlsBase, { host, port, alpn }: SecureTarget, options: HttpTlsOptions) {
    this.#options = options;
    this.#callContext = options.checkServerIdentity && new CallContext();
    this.#context = TlsContext.of(options);
    this.#server = `${host}:${port}`;
    const servername = options.servername ?? (isIP(host) === 0 ? host.replace(/\.$/, "") : ""); // RFC 6066 section 3
    this.expectedName = servername || host;
    const session = this.#context.kept(this.#server)?.session as Buffer | undefined;
    this.settings = {
      ...base,
      host,
      secureContext: this.#context.secureContext,
      servername,
      ALPNProtocols: [...alpn],
      rejectUnauthorized: options.rejectUnauthorized !== false,
      checkServerIdentity: (name, certificate) => this.#check(name, certificate),
      ...(session && { session }),
    };
    this.socket = connect(this.settings);
    this.socket.on("session", (session) => {
      if (!this.#wrong) this.#context.keep(this.#server, { session, certificate: this.certificate() });
    });
    this.socket.once("close", (failed: boolean) => {
      if (failed) this.#context.forget(this.#server);
    });
  }

  /** Whether the runtime called the user's checkServerIdentity, which pins certificates: required, unless a resumed session had that call. */
  get askedForIdentity(): boolean {
    return this.#checked || this.#options.checkServerIdentity === undefined || this.socket.isSessionReused();
  }

  /**
   * Checks the names of the certificate if the runtime connected without the check (Bun 1.3 skips one that comes with a secure context), or ignored its result (Deno
   * 2.6). Returns the error, if any. If the certificate is unknown, too, as on Deno 2.4, the runtime has compared the names itself.
   */
  get unheeded(): Error | undefined {
    if (this.#options.rejectUnauthorized === false) return undefined;
    if (!this.#checked && !this.socket.isSessionReused()) {
      const certificate = this.certificate();
      if (certificate?.raw) this.#check(this.expectedName, certificate);
    }
    if (this.#wrong) this.#context.forget(this.#server); // a resumed session would not be checked again
    return this.#wrong;
  }

  /** Returns the server's certificate, if known; some time after the socket's end it is not. */
  certificate(): PeerCertificate | undefined {
    const certificate = this.#certificate ?? this.socket.getPeerCertificate();
    if (certificate?.raw) this.#certificate = certificate;
    else this.#certificate = this.#context.kept(this.#server)?.certificate; // on Node, a resumed session has no certificate
    return this.#certificate;
  }

  #check(name: string, certificate: PeerCertificate): Error | undefined {
    this.#certificate = certificate;
    this.#checked = true;
    if (this.#options.checkServerIdentity !== undefined) this.refusal = this.#askOwn(name, certificate);
    else this.#wrong = checkServerIdentity(name, certificate);
    return this.#wrong ??= this.refusal;
  }

  #askOwn(name: string, certificate: PeerCertificate): Error | undefined {
    try {
      const ask = (): unknown => this.#options.checkServerIdentity!(name, certificate);
      const answer = atOnce("checkServerIdentity", this.#callContext?.run(ask));
      return answer ? toError(answer) : undefined;
    } catch (error) { // the socket is the caller: an exception would be uncaught
      return toError(error);
    }
  }
}

function toError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}

function timeliness(certificate: PeerCertificate): "valid" | "expired" | "early" {
  if (Date.parse(certificate.valid_to) < Date.now()) return "expired";
  return Date.parse(certificate.valid_from) > Date.now() ? "early" : "valid";
}

function commonName(name: PeerCertificate["subject"] | undefined): string | undefined {
  const { CN } = Object(name) as { CN?: string | string[] };
  return Array.isArray(CN) ? CN.join(", ") : CN;
}

function toCertificateError(error: Error, certificate: PeerCertificate, host: string, peer: Peer): HttpError {
  const { code } = error as NodeJS.ErrnoException;
  let meaning = meaningOf(error);
  // Deno reports expired certificates with this code, too.
  if (code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE" && timeliness(certificate) !== "valid") {
    meaning = "CERTIFICATE_EXPIRED";
  }
  const { origin, name, tlsOption: option } = peer;
  const message = explain(meaning, error, { certificate, host, option });
  return new HttpError(meaning, `The certificate of ${name} ${message}`, { origin, cause: error });
}

function explain(
  meaning: HttpErrorCode,
  error: Error,
  { certificate, host, option }: { certificate: PeerCertificate; host: string; option: "tls" | "proxyTls" },
): string {
  const time = timeliness(certificate);
  const by = commonName(certificate.issuer) ?? "an unnamed authority";
  if (meaning === "CERTIFICATE_HOST_MISMATCH") {
    const advice = `use one of those names, or say by ${option}.servername which to expect`;
    const names = certificate.subjectaltname?.replaceAll(/(?:DNS|IP Address):/g, "") || commonName(certificate.subject);
    return `is for ${names ?? "no name"}, not for ${host}: ${advice}`;
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

/** The maximum wait in ms for a certificate that only an error message needs. */
const CERTIFICATE_TIMEOUT = 1_000;

/**
 * Fetches the certificate of a server that was refused, for the error's message: no runtime exposes a refused certificate, and Deno does not even report whether it
 * expired. The connection takes the same route, through the same proxy, sends no data, not even a client certificate, and is closed at once.
 */
async function inspectCertificate(
  reach: () => Promise<TlsBase>,
  { host, servername, ALPNProtocols }: ConnectionOptions,
  attempt: ConnectAttempt,
): Promise<PeerCertificate | undefined> {
  const inspect = async (): Promise<PeerCertificate | undefined> => {
    const base = await reach();
    const socket = attempt.own(connect({ ...base, host, servername, ALPNProtocols, rejectUnauthorized: false }));
    try {
      await socketEvent(socket, "secureConnect");
      return socket.getPeerCertificate() ?? undefined;
    } finally {
      socket.destroy();
      if ("socket" in base) base.socket.destroy();
    }
  };
  const inspected = inspect().catch(() => undefined); // the first error is the one to report
  return await endsWithin(inspected, CERTIFICATE_TIMEOUT) ? await inspected : undefined;
}

/**
 * Negotiates TLS with a server, and checks its certificate.
 * @param reach Returns the base of the connection. Called again to inspect a certificate that was refused.
 * @throws {HttpError} if there is no connection or TLS, or the certificate is invalid.
 */
export async function secure(
  reach: () => Promise<TlsBase>,
  target: SecureTarget,
  options: HttpTlsOptions,
  attempt: ConnectAttempt,
): Promise<TlsAttempt> {
  const { peer } = target;
  const tls = begin(await reach(), target, options, attempt);
  try {
    await socketEvent(tls.socket, "secureConnect");
  } catch (error) {
    if (error !== undefined && tls.refusal) throw pinned(tls.refusal, peer);
    const reason = dialError(error, peer, attempt);
    if (!(error instanceof Error) || !reason.code.startsWith("CERTIFICATE")) throw reason;
    // The socket has ended; the deadline and the signal still apply.
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
  } catch (error) { // TLS cannot use the options
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
