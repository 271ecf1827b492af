import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { lookup } from "node:dns/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import process from "node:process";
import { endsWithin, Interval, sleep } from "../timers/mod.ts";

/** Options of {@linkcode serve}: the handlers, and the address to listen on. */
export interface ServeOptions {
  /** Answers requests of runtimes whose server uses Request and Response; Bun's server passes itself as the second argument. */
  readonly fetch: (request: Request, server?: unknown) => Response | Promise<Response>;
  /** Answers requests on `node:http`. */
  readonly node: (request: IncomingMessage, response: ServerResponse) => void;
  /** A host name or an address, such as `127.0.0.1`, `::1`, or `0.0.0.0` for every address of this machine. */
  readonly hostname: string;
  /** The port; 0 for any free one. */
  readonly port: number;
  /** The number of ports to try from `port` on, if they are in use. Default: 1. */
  readonly portsToTry?: number;
  /** A certificate and its key in PEM format, for https. Default: none, for http. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
}

/** The options with the resolved address of the host. */
export interface ListenOptions extends ServeOptions {
  readonly address: string;
}

export interface Listening {
  readonly port: number;
  /** Stops accepting, closes idle connections, and settles when no request is open. */
  readonly finish: () => Promise<void>;
  /** Closes the connections for which `finish` still waits, if the runtime can. */
  readonly cut: () => void;
  /** Makes new connections use another certificate; undefined if the runtime cannot change it while it serves. */
  readonly renew?: (tls: NonNullable<ServeOptions["tls"]>) => void;
}

/** Checks a certificate and its key in PEM format, since the runtimes' own errors do not say which of them is invalid. */
export function checkCertificate({ cert, key }: { readonly cert: string; readonly key: string }): void {
  let certificate: X509Certificate;
  let privateKey: KeyObject;
  try {
    certificate = new X509Certificate(cert);
  } catch (cause) {
    throw new TypeError("cannot use the certificate: it is not one in PEM format", { cause });
  }
  try {
    privateKey = createPrivateKey(key);
  } catch (cause) {
    throw new TypeError("cannot use the key: it is not a private key in PEM format without a passphrase", { cause });
  }
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new TypeError("cannot use the key: it does not belong to the certificate");
  }
}

/** The parts of a server of `Bun.serve` used here. */
interface BunServer {
  readonly port: number;
  /** The number of requests without a complete response. */
  readonly pendingRequests: number;
  stop(closeActiveConnections: boolean): Promise<void>;
}
type BunServe = (options: {
  hostname: string;
  port: number;
  tls?: { cert: string; key: string };
  idleTimeout: number;
  maxRequestBodySize: number;
  development: boolean;
  reusePort: boolean;
  fetch: ListenOptions["fetch"];
}) => BunServer;

/** The time in seconds for which a client may read no bytes; Bun's default of 10 is too short for slow clients. */
const IDLE = 60;

export function listenOnBun({ fetch, address, port, tls }: ListenOptions): Promise<Listening> {
  const { serve } = (globalThis as unknown as { Bun: { serve: BunServe } }).Bun;
  const server = serve({
    hostname: address,
    port,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
    idleTimeout: IDLE,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER, // Bun would otherwise refuse more than 128 MiB before the handlers run
    development: false,
    reusePort: false, // outside of development, Bun's default is to share the port with other such servers
    fetch: (request, server) => fetch(request, server),
  });
  return Promise.resolve({
    port: server.port,
    finish: () => finish(server),
    cut: () => void server.stop(true),
  });
}

/** The time in ms before a listener of Deno that has ended listens again. */
const RETRY = 100;

/** The time in ms between two checks of a closing server. */
const SWEEP = 25;

/** Waits for a server's end. Bun's own promise also waits for connections without a request, until they time out. */
async function finish(server: BunServer): Promise<void> {
  void server.stop(false);
  do await sleep(SWEEP); while (server.pendingRequests > 0);
}

/** The parts of a server of `Deno.serve` used here. */
interface DenoServer {
  readonly addr: { readonly port: number };
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}
type DenoServe = (
  options: { hostname: string; port: number; cert?: string; key?: string; onListen: () => void },
  handler: ListenOptions["fetch"],
) => DenoServer;

export function listenOnDeno({ fetch, address, port, tls }: ListenOptions): Promise<Listening> {
  const { serve } = (globalThis as unknown as { Deno: { serve: DenoServe } }).Deno;
  let isEnding = false;
  const listen = (port: number): DenoServer => {
    const options = { hostname: address, port, ...(tls && { cert: tls.cert, key: tls.key }), onListen: () => {} };
    const server = serve(options, (request) => fetch(request));
    server.finished.catch(() => listenAgain(server.addr.port));
    return server;
  };
  // Deno's listener ends at a connection for which there is no descriptor.
  const listenAgain = async (port: number): Promise<void> => {
    for (await sleep(RETRY); !isEnding; await sleep(RETRY)) {
      try {
        server = listen(port);
        return;
      } catch {
        // The port is not free yet, or there is still no descriptor.
      }
    }
  };
  let server = listen(port);
  return Promise.resolve({
    port: server.addr.port,
    finish: () => {
      isEnding = true;
      return server.shutdown();
    },
    cut: () => {}, // Deno cannot close the connections of a shutdown: they end with the process
  });
}

export async function listenOnNode({ node, address, port, tls }: ListenOptions): Promise<Listening> {
  const server = await serverOf(node, tls);
  const sockets = new Set<Socket>();
  server.on(tls ? "secureConnection" : "connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = server.address();
  return {
    port: bound !== null && typeof bound === "object" ? bound.port : port,
    cut: () => server.closeAllConnections(),
    renew: (secure) => (server as HttpsServer).setSecureContext(secure),
    finish: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Node counts a connection that has not sent a byte yet as busy. Browsers open such connections in advance.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      // Node does not close the others after their last response, but lets them wait for another request.
      const sweep = new Interval(SWEEP, () => server.closeIdleConnections());
      await closed.finally(() => sweep.stop());
    },
  };
}

/** Creates a server. The modules are loaded here: `node:https` takes 20 ms, and most programs never serve. */
async function serverOf(node: ListenOptions["node"], tls: ListenOptions["tls"]): Promise<Server> {
  if (!tls) return (await import("node:http")).createServer(node);
  return (await import("node:https")).createServer({ cert: tls.cert, key: tls.key }, node);
}

const MAX_PORT = 65_535;
/** The lowest port that needs no administrator rights. */
const FIRST_FREE_PORT = 1024;

export interface RunningServer {
  /** The URL of the server, such as `http://127.0.0.1:8080/`. */
  readonly url: string;
  readonly port: number;
  /** Stops accepting connections, and closes all after `graceMs` (not on Deno). A further call can shorten that. */
  readonly stop: (graceMs: number) => Promise<void>;
  /** Makes new connections use another certificate; throws if it is invalid or the runtime cannot change it. */
  readonly renew: (tls: NonNullable<ServeOptions["tls"]>) => void;
}

/**
 * Starts the runtime's own server, and throws if it cannot listen, with the reason and advice.
 * @throws {TypeError} if the certificate or its key is invalid, or they do not match.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  if (options.tls) checkCertificate(options.tls);
  const address = await addressOf(options.hostname);
  const { bun, deno } = process.versions as { bun?: string; deno?: string };
  const listen = deno ? listenOnDeno : bun ? listenOnBun : listenOnNode;
  const listening = await listenOnFree(listen, { ...options, address });
  const { port, finish, cut, renew } = listening;
  let finished: Promise<void> | undefined;
  return {
    port,
    url: `${options.tls ? "https" : "http"}://${hostOf(options.hostname)}:${port}/`,
    stop: async (graceMs) => {
      finished ??= finish();
      if (!await endsWithin(finished, graceMs)) cut();
    },
    renew: (tls) => {
      checkCertificate(tls);
      if (!renew) throw new Error("this runtime takes another one only when it starts to serve");
      renew(tls);
    },
  };
}

/** Listens on the first of the ports to try that is neither in use nor reserved by the system, as on Windows. */
async function listenOnFree(
  listen: (options: ListenOptions) => Promise<Listening>,
  options: ListenOptions,
): Promise<Listening> {
  const last = Math.min(options.port + (options.portsToTry ?? 1) - 1, MAX_PORT);
  for (let port = options.port;; port++) {
    try {
      return await listen({ ...options, port }); // Deno and Bun throw, Node rejects
    } catch (cause) {
      const isTaken = codeOf(cause) === "EADDRINUSE" || codeOf(cause) === "EACCES" && port >= FIRST_FREE_PORT;
      if (isTaken && port < last) continue;
      throw new Error(reasonOf(cause, options, last), { cause });
    }
  }
}

/** Resolves a host name. Runtimes report a name that does not exist in different ways, or not at all. */
async function addressOf(hostname: string): Promise<string> {
  if (hostname === "") throw new TypeError("cannot listen: hostname is empty, name a host or an address");
  try {
    return (await lookup(hostname)).address;
  } catch (cause) {
    throw new Error(`cannot listen on ${hostname}: there is no such host`, { cause });
  }
}

/** Returns the host for a URL. Addresses that mean all of this machine's cannot be opened everywhere. */
function hostOf(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}

function reasonOf(error: unknown, { hostname, port }: ServeOptions, last: number): string {
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const place = `cannot listen on ${hostname}, ${last > port ? `ports ${port} to ${last}` : `port ${port}`}`;
  if (code === "EADDRINUSE") {
    return `${place}: ${last > port ? "all are" : "the port is"} in use; choose another, or 0 for any free one`;
  }
  if (code === "EACCES" || code === "EPERM") {
    const why = port < FIRST_FREE_PORT
      ? "ports below 1024 may be for administrators only"
      : "the system may keep it, as Windows does";
    return `${place}: permission denied; ${why}, choose another one`;
  }
  if (code === "EADDRNOTAVAIL") return `${place}: this machine has no such address`;
  return `${place}: ${message}`;
}
