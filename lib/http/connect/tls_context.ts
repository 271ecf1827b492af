import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import type { HttpTlsOptions } from "../tls_options.ts";

/** Sessions that are kept for one client, so that memory stays bounded with many origins. */
const MAX_SESSIONS = 256;

/** What was made of a client's TLS options, once for all its connections: parsing `ca` costs more than a handshake. */
export class TlsContext {
  static readonly #contexts = new WeakMap<HttpTlsOptions, TlsContext>();

  readonly secureContext: SecureContext;
  readonly #sessions = new Map<string, Uint8Array>();

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
    const { ca, cert, key, passphrase, pfx, minVersion, maxVersion, ciphers } = options;
    const given = Object.entries({ ca, cert, key, passphrase, pfx, minVersion, maxVersion, ciphers })
      .filter(([, value]) => value !== undefined);
    this.secureContext = createSecureContext(Object.fromEntries(given) as SecureContextOptions);
  }

  /** The last session with a server, if there was one. */
  session(server: string): Uint8Array | undefined {
    return this.#sessions.get(server);
  }

  /** Keeps a session to resume. */
  keep(server: string, session: Uint8Array): void {
    this.#sessions.delete(server);
    this.#sessions.set(server, session);
    if (this.#sessions.size <= MAX_SESSIONS) return;
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest);
      break;
    }
  }

  /** Forgets the session with a server that would not have it. */
  forget(server: string): void {
    this.#sessions.delete(server);
  }
}
