import { isIP, type TcpNetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import { checkServerIdentity, connect, type ConnectionOptions, type PeerCertificate, type TLSSocket } from "node:tls";
import type { HttpTlsOptions } from "../../tls_options.ts";
import type { Peer } from "../peer.ts";
import { TlsContext } from "./tls_context.ts";

/**
 * The base of a TLS connection: a connected stream, or the options by which `node:tls` connects by itself. It does so where nothing
 * has to be said before: on Bun a download takes a fifth more CPU over a socket that TLS was given.
 */
export type TlsBase = { readonly socket: Duplex } | TcpNetConnectOpts;

/** A server that TLS is to be spoken with. */
export interface SecureTarget {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly peer: Peer;
  /** The protocols that ALPN offers. */
  readonly alpn: readonly string[];
}

/** A socket on which TLS is being agreed on, and what is known of the server's certificate. */
export class TlsAttempt {
  readonly socket: TLSSocket;
  /** The options that the socket was opened with. */
  readonly settings: ConnectionOptions;
  /** The name or address that the certificate has to be for. */
  readonly expectedName: string;
  /** The error of the options' checkServerIdentity, if it refused the certificate. */
  refusal: Error | undefined;
  readonly #options: HttpTlsOptions;
  readonly #context: TlsContext;
  readonly #server: string;
  #certificate: PeerCertificate | undefined;
  #checked = false;
  #wrong: Error | undefined;

  /**
   * Starts the handshake, or to connect.
   *
   * @throws {Error} if the options cannot be used.
   */
  constructor(base: TlsBase, { host, port, alpn }: SecureTarget, options: HttpTlsOptions) {
    this.#options = options;
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
    this.socket.on("session", (session) => this.#keep(session));
    this.socket.once("close", (failed: boolean) => {
      if (failed) this.#context.forget(this.#server);
    });
  }

  /** Whether the certificate was verified, the chain and the name. */
  get verified(): boolean {
    return this.socket.authorized === true && this.#options.rejectUnauthorized !== false;
  }

  /**
   * Whether the runtime called the checkServerIdentity of the options, as it has to unless the session is one for which it did so before. Who pins
   * certificates by it must not be left alone by a runtime that forgets it.
   */
  get askedForIdentity(): boolean {
    return this.#checked || this.#options.checkServerIdentity === undefined || this.socket.isSessionReused();
  }

  /**
   * Checks the names of the certificate where the runtime has connected without asking (Bun 1.3 does not ask a check
   * that comes with a secure context), or without heeding the answer (Deno 2.6). What is wrong with them, if so.
   *
   * If nothing is known of the certificate either, as on Deno 2.4, the runtime has compared the names itself.
   */
  get unheeded(): Error | undefined {
    if (this.#options.rejectUnauthorized === false) return undefined;
    if (!this.#checked && !this.socket.isSessionReused()) {
      const certificate = this.certificate();
      if (certificate?.raw) this.#check(this.expectedName, certificate);
    }
    if (this.#wrong) this.#context.forget(this.#server); // a session that is resumed is not checked again
    return this.#wrong;
  }

  /** The server's certificate, if it is known; some time after the socket's end it no longer is. */
  certificate(): PeerCertificate | undefined {
    const certificate = this.#certificate ?? this.socket.getPeerCertificate();
    if (certificate?.raw) this.#certificate = certificate;
    else this.#certificate = this.#context.kept(this.#server)?.certificate; // a session resumed on Node has none
    return this.#certificate;
  }

  /**
   * Whether the certificate, which was verified, is for another host too: by its names, and by the checkServerIdentity of the options. That may
   * think less of names, as one that only compares keys does, or more, as one that knows which key belongs to which host.
   */
  covers(host: string): boolean {
    const certificate = this.verified ? this.certificate() : undefined;
    if (certificate === undefined || checkServerIdentity(host, certificate) !== undefined) return false;
    return this.#askOwn(host, certificate) === undefined;
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
      return this.#options.checkServerIdentity?.(name, certificate) ?? undefined;
    } catch (error) { // it would be an uncaught exception, as nobody called but the socket
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  #keep(session: Uint8Array): void {
    if (!this.#wrong) this.#context.keep(this.#server, { session, certificate: this.certificate() });
  }
}
