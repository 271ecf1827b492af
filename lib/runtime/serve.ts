import { lookup } from "node:dns/promises";
import process from "node:process";
import { listenOnBun } from "./serve_bun.ts";
import { listenOnDeno } from "./serve_deno.ts";
import { listenOnNode } from "./serve_node.ts";
import type { Listening, ListenOptions, ServeOptions } from "./serve_options.ts";
import { checkCertificate } from "./serve_tls.ts";

const MOST_PORT = 65_535;

/** A server that listens. */
export interface RunningServer {
  /** The URL of the server, as in `http://127.0.0.1:8080/`. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting connections, closes those that wait for a request, lets requests under way finish for at most
   * `graceMs`, and then cuts them. (Deno cannot cut them; there they end with the process.)
   * It can be called again, to wait for a shorter time.
   */
  readonly stop: (graceMs: number) => Promise<void>;
}

/**
 * Serves on the runtime's own server: `node:http` or `node:https` with `options.node`, `Deno.serve` or `Bun.serve` with
 * `options.fetch`.
 *
 * @throws {TypeError} if the certificate or its key is none, or they do not belong together.
 * @throws {Error} if it cannot listen: the message says why and what to do.
 */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  if (options.tls) checkCertificate(options.tls);
  const address = await addressOf(options.hostname);
  const { bun, deno } = process.versions as { bun?: string; deno?: string };
  const listen = deno ? listenOnDeno : bun ? listenOnBun : listenOnNode;
  const listening = await listenOnFree(listen, { ...options, address });
  const { port } = listening;
  return {
    port,
    url: `${options.tls ? "https" : "http"}://${hostOf(options.hostname)}:${port}/`,
    stop: stopper(listening),
  };
}

/** Listens on the first of the ports that may be tried which is not in use. */
async function listenOnFree(
  listen: (options: ListenOptions) => Promise<Listening>,
  options: ListenOptions,
): Promise<Listening> {
  const last = Math.min(options.port + (options.portsToTry ?? 1) - 1, MOST_PORT);
  for (let port = options.port;; port++) {
    try {
      return await listen({ ...options, port }); // Deno and Bun throw, Node rejects
    } catch (cause) {
      if (codeOf(cause) === "EADDRINUSE" && port < last) continue;
      throw new Error(reasonOf(cause, options, last), { cause });
    }
  }
}

function stopper({ finish, cut }: Listening): RunningServer["stop"] {
  let finished: Promise<void> | undefined;
  return async (graceMs) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        cut();
        resolve();
      }, graceMs);
    });
    finished ??= finish();
    await Promise.race([finished, over]);
    clearTimeout(timer);
  };
}

/** Looked up here, because the runtimes tell a name that does not exist in different ways, or not. */
async function addressOf(hostname: string): Promise<string> {
  if (hostname === "") throw new TypeError("cannot listen: hostname is empty, name a host or an address");
  try {
    return (await lookup(hostname)).address;
  } catch (cause) {
    throw new Error(`cannot listen on ${hostname}: there is no such host`, { cause });
  }
}

/** The host's part of a URL. Addresses that stand for all of this machine's cannot be opened everywhere. */
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
    return `${place}: permission denied; ports below 1024 may be for administrators only, choose a higher one`;
  }
  if (code === "EADDRNOTAVAIL") return `${place}: this machine has no such address`;
  return `${place}: ${message}`;
}
