import { createSecureContext, type PeerCertificate, type SecureContext, type SecureContextOptions } from "node:tls";
import type { HttpTlsOptions } from "../../tls_options.ts";

/** How many servers' sessions are kept for one client, so that memory stays bounded with many origins. */
const MAX_SESSIONS = 256;

/** A TLS session, kept so that the next connection to the server costs less. */
export interface KeptSession {
  /** As node:tls serializes it. */
  readonly session: Uint8Array;
  /** The server's, which Node does not know anymore once a session is resumed. */
  readonly certificate: PeerCertificate | undefined;
}

/** The TLS context and sessions of a client, shared by its connections: parsing `ca` for each takes longer than a handshake. */
export class TlsContext {
  static readonly #contexts = new WeakMap<HttpTlsOptions, TlsContext>();

  readonly secureContext: SecureContext;
  readonly #sessions = new Map<string, KeptSession>();

  /** The context of these options, made when first asked for. */
  static of(options: HttpTlsOptions): TlsContext {
    let context = TlsContext.#contexts.get(options);
    if (context === undefined) {
      context = new TlsContext(options);
      TlsContext.#contexts.set(options, context);
    }
    return context;
  }

  private constructor(options: HttpTlsOptions) {
    const { ca, cert, key, passphrase, pfx, minVersion, maxVersion } = options;
    const given = Object.entries({ ca, cert, key, passphrase, pfx, minVersion, maxVersion })
      .filter(([, value]) => value !== undefined);
    this.secureContext = createSecureContext(Object.fromEntries(given) as SecureContextOptions);
  }

  /** The last session with a server. */
  kept(server: string): KeptSession | undefined {
    return this.#sessions.get(server);
  }

  /** Keeps a session to resume. */
  keep(server: string, session: KeptSession): void {
    this.#sessions.delete(server); // the Map's order is that of use
    this.#sessions.set(server, session);
    if (this.#sessions.size <= MAX_SESSIONS) return;
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest);
      break;
    }
  }

  /** Forgets the session with a server that fails. */
  forget(server: string): void {
    this.#sessions.delete(server);
  }
}
