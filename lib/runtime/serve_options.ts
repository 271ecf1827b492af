import type { IncomingMessage, ServerResponse } from "node:http";

/** Options of {@linkcode serve}: the handlers, and the address to listen on. */
export interface ServeOptions {
  /** Answers requests where the runtime's own server speaks Request and Response; Bun's passes itself besides. */
  readonly fetch: (request: Request, server?: unknown) => Response | Promise<Response>;
  /** Answers requests on `node:http`. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
  /** A host name or an address, as in `127.0.0.1`, `::1`, or `0.0.0.0` for every address of this machine. */
  readonly hostname: string;
  /** 0 for any free port. */
  readonly port: number;
  /** How many ports are tried from `port` on, where one is in use. Default: 1. */
  readonly portsToTry?: number;
  /** A certificate and its key in PEM format, for https. Default: none, for http. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

/** The options with the address that the host's name stands for. */
export interface ListenOptions extends ServeOptions {
  readonly address: string;
}

/** A runtime's server that listens. */
export interface Listening {
  readonly port: number;
  /** Stops accepting, closes connections that wait for a request, and settles when no request is under way. */
  readonly finish: () => Promise<void>;
  /** Cuts what `finish` still waits for, as far as the runtime lets it. */
  readonly cut: () => void;
}
