import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLong } from "../../support/long_run.ts";
import { runtime } from "../../support/runtime.ts";
import { noApache, startApacheProxy } from "./apache.ts";
import type { Origins } from "./application.ts";
import type { Endpoint, Feature } from "./endpoint.ts";
import type { RestartingServer } from "./features/restarts.ts";
import type { VerifyingEndpoint } from "./features/verified_clients.ts";
import { fileHere } from "./files.ts";
import { noGo, startGo } from "./go.ts";
import { noNginx, startNginxProxy } from "./nginx.ts";
import { type PeerProcess, runtimePath, startApplication } from "./processes.ts";

/** A server that implements the application, or passes requests on to one that does. */
interface Peer {
  readonly name: string;
  readonly skip: string | false;
  readonly kinds: readonly Endpoint["kind"][];
  readonly lacks: readonly Feature[];
  readonly verifies: boolean;
  readonly start: (folder: string, upstream: string) => Promise<PeerProcess>;
}

const all = ["h2", "h2c", "h1", "h1s"] as const;

const node: Peer = {
  name: "Node",
  skip: missing("node"),
  kinds: all,
  lacks: [],
  verifies: true,
  start: () => startApplication(runtimePath("node") ?? "node", [fileHere("node_server.ts")]),
};

const proxiesAndServers: readonly Peer[] = [
  {
    name: "nginx",
    skip: noNginx || node.skip,
    kinds: all,
    lacks: ["hints", "large duplex"],
    verifies: true,
    start: startNginxProxy,
  },
  {
    name: "Apache httpd",
    skip: noApache || node.skip,
    kinds: all,
    lacks: ["lengths", "duplex", "large duplex"],
    verifies: true,
    start: startApacheProxy,
  },
  { name: "Go", skip: noGo, kinds: all, lacks: ["brotli and zstd"], verifies: true, start: startGo },
  {
    name: "Deno",
    skip: missing("deno"),
    kinds: ["h2", "h2c", "h1"],
    lacks: ["trailers", "hints"],
    verifies: false,
    start: () =>
      startApplication(runtimePath("deno") ?? "deno", [
        "run",
        "-A",
        "--no-check",
        "--quiet",
        fileHere("deno_server.ts"),
      ]),
  },
  {
    name: "Bun",
    skip: missing("bun"),
    kinds: ["h1", "h1s"],
    lacks: ["trailers", "hints"],
    verifies: false,
    start: () => startApplication(runtimePath("bun") ?? "bun", [fileHere("bun_server.ts")]),
  },
];

/**
 * The other servers: Node's client tests all, other runtimes' two except in a long run, since servers differ more than
 * clients.
 */
const others = proxiesAndServers.filter(({ name }) => isLong || runtime === "node" || /^(?:nginx|Go)$/.test(name));

/**
 * Returns the protocols of a server: except in a long run h2 without TLS and HTTP/1.1 over it are those of Node's server
 * alone, as both are the client's choice of a socket below the same bytes.
 */
function kindsOf(peer: Peer): Peer["kinds"] {
  return isLong || peer === node ? peer.kinds : peer.kinds.filter((kind) => kind === "h2" || kind === "h1");
}

function missing(runtime: "node" | "deno" | "bun"): string | false {
  return runtimePath(runtime) ? false : `${runtime} is not installed`;
}

/** All servers; the installed ones run between `start` and `close`. */
export class Peers {
  #folder = "";
  readonly #running = new Map<string, PeerProcess>();

  async start(): Promise<void> {
    this.#folder = await realpath(await mkdtemp(join(tmpdir(), "millrace-peers-")));
    if (!node.skip) this.#running.set(node.name, await node.start(this.#folder, ""));
    const upstream = this.#running.get(node.name)?.origins.h1 ?? "";
    const starting = others.filter(({ skip }) => !skip).map(async ({ name, start }) => {
      this.#running.set(name, await start(join(this.#folder, name.replaceAll(" ", "_")), upstream));
    });
    const failed = (await Promise.allSettled(starting)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") {
      await this.close();
      throw failed.reason;
    }
  }

  async close(): Promise<void> {
    const { [node.name]: upstream, ...proxies } = Object.fromEntries(this.#running);
    await Promise.all(Object.values(proxies).map((peer) => peer.close()));
    await upstream?.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Returns each protocol of each server. */
  endpoints(): Endpoint[] {
    return [node, ...others].flatMap((peer) => {
      const { name, skip, lacks } = peer;
      return kindsOf(peer).map((kind) => ({
        name: `${name}, ${words[kind]}`,
        kind,
        skip,
        lacks: new Set(lacks),
        origin: () => this.#originsOf(name)[kind] ?? "",
      }));
    });
  }

  /** Returns the servers that restart at a signal. */
  restarting(): RestartingServer[] {
    return [{
      name: "Go",
      skip: noGo,
      origins: () => this.#originsOf("Go"),
      reload: () => this.#running.get("Go")!.signal("SIGHUP"),
    }];
  }

  /** Returns the servers that require a client certificate. */
  verifying(): VerifyingEndpoint[] {
    return [node, ...others].filter(({ verifies }) => verifies).map(({ name, skip }) => ({
      name,
      skip,
      origin: () => this.#originsOf(name).verified ?? "",
    }));
  }

  #originsOf(name: string): Origins {
    return this.#running.get(name)?.origins ?? {};
  }
}

const words: Readonly<Record<Endpoint["kind"], string>> = {
  h2: "h2",
  h2c: "h2 without TLS",
  h1: "HTTP/1.1",
  h1s: "HTTP/1.1 over TLS",
};
