import { AllowedAddresses } from "../connect/allowed_addresses.ts";
import { openTransport } from "../connect/open_transport.ts";
import type { Connection, ConnectionOwner, Transport } from "../connection.ts";
import { HttpError } from "../http_error.ts";
import type { ProxyServer } from "../proxy/proxy_server.ts";
import type { ResolvedOptions } from "../http_client_options.ts";

export interface Target {
  readonly origin: string;
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  readonly proxy: ProxyServer | undefined;
  /** Whether redirects led to its requests, in a client with `allowAddress`. */
  readonly redirect: boolean;
}

// Modules that only open connections need: they load while the first one opens; `h2` while the first one opens that may speak it.
export let responses: typeof import("../response/decoded_body.ts");
let h1: typeof import("../h1/connection.ts") | undefined;
let h2: typeof import("../h2/session.ts") | undefined;

export async function load(mayBeHttp2: boolean, origin?: string): Promise<void> {
  const modules = Promise.all([import("../response/decoded_body.ts"), import("../h1/connection.ts")]);
  [responses, h1] = await loaded(modules, origin);
  if (mayBeHttp2) h2 = await loaded(import("../h2/session.ts"), origin);
}

/** Returns modules that load late. @throws {HttpError} if they cannot be read, such as without a free file descriptor. */
export async function loaded<T>(modules: Promise<T>, origin?: string): Promise<T> {
  try {
    return await modules;
  } catch (cause) {
    const message = `Cannot load modules of the client: ${(cause as Error).message}`;
    throw new HttpError("CONNECTION_REFUSED", message, { origin, cause });
  }
}

export function connectTo(
  target: Target,
  options: ResolvedOptions,
  { signal, http1Only }: { signal: AbortSignal; http1Only: boolean },
): Promise<Transport> {
  const mayBeHttp2 = target.secure ? options.http2 && !http1Only : options.h2c;
  const isLoaded = h1 !== undefined && (h2 !== undefined || !mayBeHttp2);
  return openTransport(target, {
    load: isLoaded ? undefined : () => load(mayBeHttp2, target.origin),
    tls: options.tls,
    alpn: mayBeHttp2 ? ["h2", "http/1.1"] : ["http/1.1"],
    timeout: options.connectTimeout,
    lookup: options.lookup,
    allowed: options.allowAddress && new AllowedAddresses(options.allowAddress, target),
    signal,
    socketPath: options.socketPath,
    connect: options.connect,
    via: target.proxy && {
      proxy: target.proxy,
      tls: options.proxyTls,
      tunnels: !forwards(target, options),
      serverSpeaksFirst: !target.secure && options.h2c,
      maxHeaderSize: options.maxHeaderSize,
    },
  });
}

/** Whether an HTTP proxy gets the requests themselves; HTTP/2 without TLS would become HTTP/1.1 there. */
function forwards({ secure, proxy }: Target, { h2c }: ResolvedOptions): boolean {
  return proxy?.protocol === "http" && !secure && !h2c;
}

/** Starts a protocol on a transport, in its first turn; h2 allows `allowedAtFirst` streams before the server's SETTINGS. */
export function speakOver(
  transport: Transport,
  target: Target,
  options: ResolvedOptions,
  { owner, allowedAtFirst, http1Only }: { owner: ConnectionOwner; allowedAtFirst: number; http1Only: boolean },
): Connection {
  const speaksHttp2 = target.secure ? transport.alpnProtocol === "h2" : options.h2c && !http1Only;
  const { origin } = target;
  if (speaksHttp2) {
    const idleTimeout = Math.max(1, options.http2IdleTimeout);
    return new h2!.Session(transport, { ...options, origin, idleTimeout, allowedAtFirst }, owner);
  }
  const { authorization } = target.proxy ?? {};
  const fields = authorization === undefined ? "" : `proxy-authorization: ${authorization}\r\n`;
  const forwarding = forwards(target, options) ? { origin, fields } : undefined;
  const { streamWindow: highWaterMark, http1IdleTimeout: idleTimeout } = options;
  return new h1!.Http1Connection(transport, { ...options, origin, highWaterMark, idleTimeout, forwarding }, owner);
}
