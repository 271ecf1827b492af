import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import type { Socket } from "node:net";
import process from "node:process";
import { HttpClient, type HttpClientOptions } from "../../lib/http/mod.ts";
import { certificates } from "./certificates.ts";
import { Listener, type ListenerOptions } from "./faults/listener.ts";
import { until, within } from "../support/waits.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

/** The behaviour of a server and of its client. */
export interface SceneOptions {
  readonly client?: HttpClientOptions;
  readonly listener?: ListenerOptions;
  /** The time limit in ms; default: the limit of other waits. */
  readonly limit?: number;
  /** Called with each socket that the server accepts; default: no call. */
  readonly onSocket?: (socket: Socket) => void;
}

/** A client and a server of bare sockets. */
export interface Scene {
  readonly client: HttpClient;
  readonly listener: Listener;
  /** The URL of the server, without a path. */
  readonly url: string;
}

/** Timers of this package that neither fired nor were cleared, also those that do not keep the process alive; Node only. */
const timers = new Map<number, string>();

if (!process.versions.bun && !process.versions.deno) {
  createHook({
    init: (id, type) => {
      if (type !== "Timeout") return;
      const { stack = "" } = new Error();
      if (stack.includes("/lib/http/")) timers.set(id, stack);
    },
    destroy: (id) => void timers.delete(id),
  }).enable();
}

/** Counts the sockets, timers and lookups that keep the process alive, as far as the runtime reports them. */
function resources(): number {
  return process.getActiveResourcesInfo().filter((name) => /Socket|TLS|TCPWRAP|Timeout|Immediate|GetAddr/.test(name))
    .length;
}

/**
 * Runs a client against a hostile server. Whatever happened, afterwards nothing is left: within the client's own timeouts no request
 * is active or waits, `close()` resolves, the server sees the end of every socket, no timer runs and no rejection was unhandled.
 */
export async function leavesNothing(options: SceneOptions, act: (scene: Scene) => Promise<void>): Promise<void> {
  const before = resources();
  const earlier = new Set(timers.keys());
  const left = (): string[] => [...timers].filter(([id]) => !earlier.has(id)).map(([, stack]) => stack);
  const listener = await new Listener(options.listener ?? {}, options.onSocket ?? (() => {})).start();
  const client = new HttpClient({ tls: { ca: certificates.ca }, ...options.client });
  try {
    await within(act({ client, listener, url: listener.origin }), "the scene", options.limit);
    await until(() => {
      const { active, queued, connecting } = client.stats();
      return active + queued + connecting === 0;
    }, "no request under way");
    await within(client.close(), "close()");
    assert.equal(client.stats().connections, 0);
    await until(() => listener.sockets.size === 0, "the end of all sockets");
  } finally {
    client.destroy();
    await listener.stop();
  }
  await until(() => resources() <= before, `the end of all sockets and timers: ${process.getActiveResourcesInfo()}`);
  await until(() => left().length === 0, "the end of all timers").catch((error) => {
    throw new Error(left().join("\n\n"), { cause: error });
  });
  assert.deepEqual(unhandled, []);
}
