import { connect, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from "node:net";
import { HttpError } from "../http_error.ts";
import type { Transport } from "../transport.ts";
import { toCertificateError } from "./certificate_error.ts";
import type { ConnectOptions, ConnectTarget } from "./connect_options.ts";
import { toConnectionError } from "./connection_error.ts";
import { inspectCertificate } from "./inspect_certificate.ts";
import { SocketTransport } from "./socket_transport.ts";
import { TlsAttempt } from "./tls_socket.ts";

/**
 * Connects to a server.
 *
 * @returns the connection, on which nothing was sent yet but the TLS handshake. Attach to it in the same turn.
 * @throws {HttpError} that says what failed: the look-up of the name, the connection, TLS, or the time they took.
 * @throws the signal's reason.
 */
export function openTransport(target: ConnectTarget, options: ConnectOptions): Promise<Transport> {
  if (options.signal?.aborted) return Promise.reject(options.signal.reason);
  return new Promise((resolve, reject) => {
    try {
      new Attempt(target, options, resolve, reject);
    } catch (error) { // options that TLS cannot use
      reject(toConnectionError(error, originOf(target)));
    }
  });
}

type Stage = "the look-up of its name" | "TCP" | "TLS";

/** One attempt to connect, from the look-up to the end of the TLS handshake. */
class Attempt {
  readonly #origin: string;
  readonly #options: ConnectOptions;
  readonly #resolve: (transport: Transport) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #tls: TlsAttempt | undefined;
  readonly #socket: Socket;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #stage: Stage;
  /** Whether the socket failed; the attempt may still be finding out why. */
  #broken = false;
  #settled = false;

  constructor(
    target: ConnectTarget,
    options: ConnectOptions,
    resolve: (transport: Transport) => void,
    reject: (reason: unknown) => void,
  ) {
    const { tls, alpn, lookup, timeout, signal } = options;
    const host = target.host.startsWith("[") ? target.host.slice(1, -1) : target.host;
    const tcp: TcpNetConnectOpts = { host, port: target.port, noDelay: true, autoSelectFamily: true };
    if (lookup) tcp.lookup = this.#observed(lookup);
    this.#origin = originOf(target);
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#stage = isIP(host) === 0 ? "the look-up of its name" : "TCP";
    this.#tls = target.secure ? new TlsAttempt(tcp, tls, alpn) : undefined;
    const socket = this.#socket = this.#tls?.socket ?? connect(tcp);
    socket.on("lookup", (error) => {
      if (!error) this.#stage = "TCP";
    });
    socket.on("connect", () => this.#connected());
    socket.on("secureConnect", () => this.#secured());
    socket.on("error", (error) => this.#failed(error));
    socket.on("close", () => this.#failed(undefined));
    if (timeout > 0) this.#timer = setTimeout(() => this.#refuse(this.#timedOut()), timeout);
    signal?.addEventListener("abort", this.#onAbort);
  }

  /** The look-up of the options, which may answer at once, with one address where all are asked for, or throw. */
  #observed(lookup: LookupFunction): LookupFunction {
    return (name, options, callback) => {
      try {
        lookup(name, options, (error, found, family) => {
          if (!error) this.#stage = "TCP";
          // The sockets ask for all addresses, and fail in odd ways if they get one.
          const single = options.all && typeof found === "string" && !error;
          callback(error, single ? [{ address: found, family: family ?? isIP(found) }] : found, family);
        });
      } catch (error) {
        queueMicrotask(() => callback(error as NodeJS.ErrnoException, "", 0));
      }
    };
  }

  readonly #onAbort = (): void => this.#refuse(this.#options.signal?.reason);

  #connected(): void {
    this.#stage = "TLS";
    if (this.#tls === undefined) this.#succeed();
  }

  #secured(): void {
    const tls = this.#tls!;
    const wrong = tls.unheeded;
    if (tls.refusal) return this.#refuse(this.#pinned(tls.refusal));
    if (wrong) return this.#refuse(toCertificateError(wrong, tls.certificate()!, tls.expectedName, this.#origin));
    if (tls.askedForIdentity) return this.#succeed();
    const message =
      `Cannot use tls.checkServerIdentity with ${this.#origin}: this version of the runtime does not call it`;
    this.#refuse(new HttpError("TLS_FAILED", message, { origin: this.#origin }));
  }

  #succeed(): void {
    if (this.#settled) return;
    const transport = new SocketTransport(this.#socket, this.#tls); // has listeners of its own from here on
    this.#release();
    this.#resolve(transport);
  }

  #failed(error: Error | undefined): void {
    if (this.#settled || this.#broken) return;
    this.#broken = true;
    const tls = this.#tls;
    if (error && tls?.refusal) return this.#refuse(this.#pinned(tls.refusal));
    const reason = this.#meaning(error);
    if (!error || !tls || !reason.code.startsWith("CERTIFICATE")) return this.#refuse(reason);
    // The socket is gone; the timer and the signal still hold.
    const known = "cert" in error ? Promise.resolve(tls.certificate()) : inspectCertificate(tls.settings);
    known.then((certificate) => {
      if (!certificate?.raw) return this.#refuse(reason);
      this.#refuse(toCertificateError(error, certificate, tls.expectedName, this.#origin));
    });
  }

  #meaning(error: Error | undefined): HttpError {
    const meaning = toConnectionError(error, this.#origin);
    if (meaning.code !== "CONNECTION_LOST" || this.#stage !== "the look-up of its name") return meaning;
    const message = `Cannot look up the name of ${this.#origin}: ${error?.message}`; // what a lookup of the options said
    return new HttpError("DNS_FAILED", message, { origin: this.#origin, cause: error });
  }

  #pinned(refusal: Error): HttpError {
    const message = `The certificate of ${this.#origin} was refused by tls.checkServerIdentity: ${refusal.message}`;
    return new HttpError("CERTIFICATE_UNTRUSTED", message, { origin: this.#origin, cause: refusal });
  }

  #timedOut(): HttpError {
    const message = `No connection to ${this.#origin} within ${this.#options.timeout} ms (connectTimeout): ` +
      `${this.#stage} took too long`;
    return new HttpError("CONNECT_TIMEOUT", message, { origin: this.#origin });
  }

  #refuse(reason: unknown): void {
    if (this.#settled) return;
    this.#release();
    this.#socket.destroy(); // our listener for errors stays: what it says now has been told
    this.#reject(reason);
  }

  #release(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }
}

function originOf({ secure, host, port }: ConnectTarget): string {
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return `${secure ? "https" : "http"}://${name}${port === (secure ? 443 : 80) ? "" : `:${port}`}`;
}
