import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { getEventListeners } from "node:events";
import { HttpClient, type HttpInterceptor, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { until, within } from "../../support/waits.ts";
import { certificates } from "../certificates.ts";
import { Child } from "../faults/child.ts";
import type { Protocol } from "../faults/origin.ts";
import { memory, residentSet } from "./memory.ts";

/** The origin process's counts of requests and bytes. */
interface Seen {
  readonly requests: number;
  readonly received: number;
  readonly sent: number;
  readonly sockets: number;
  readonly accepted: number;
  readonly streams: number;
  readonly violations: readonly string[];
}

export interface Scene {
  readonly client: HttpClient;
  readonly url: string;
  seen(): Promise<Seen>;
}

const MB = 1_000_000;
/**
 * The limit of bytes in transit: 3 MiB ready at the server, the client's window of 1 MiB, and for h1 two sockets'
 * buffers.
 */
const onItsWay: Partial<Record<Protocol, number>> = { h2: 5 * MB, "http/1.1": 14 * MB };

/** Runs a client against an origin in another process; afterwards nothing may be left, on either side. */
export async function soak(protocol: Protocol, act: (scene: Scene) => Promise<void>): Promise<void> {
  const child = new Child(new URL("../faults/origin_process.ts", import.meta.url), [protocol]);
  const client = new HttpClient({ tls: { ca: certificates.ca }, h2c: protocol === "h2c" });
  try {
    const port = await within(child.line(), "the port");
    const seen = async (): Promise<Seen> => JSON.parse(await child.ask("seen")) as Seen;
    const isSecure = protocol === "h2" || protocol === "http/1.1 over TLS";
    await act({ client, url: `${isSecure ? "https" : "http"}://127.0.0.1:${port}`, seen });
    const { active, queued, connecting } = client.stats();
    assert.deepEqual({ active, queued, connecting }, { active: 0, queued: 0, connecting: 0 });
    assert.deepEqual((await seen()).violations, []);
    await noneLeft("streams", seen);
    await within(client.close(), "close()");
    await noneLeft("sockets", seen);
  } finally {
    client.destroy();
    child.leave();
    await child.ended;
  }
}

/** Waits until the server has dealt with what is on its way to it. */
async function noneLeft(what: "streams" | "sockets", seen: () => Promise<Seen>): Promise<void> {
  for (let tries = 0; (await seen())[what] > 0; tries++) {
    assert.ok(tries < 500, `${what} are left`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Sleeps as long as it takes to be no faster than `rate` bytes a second. */
async function keepPace(began: number, bytes: number, rate: number): Promise<void> {
  const early = began + bytes / rate * 1000 - performance.now();
  if (early > 5) await new Promise((resolve) => setTimeout(resolve, early));
}

/** The resident set while bytes go by: a sample each 50 MB; and what it grew by after the first 100 MB. */
class Flatness {
  readonly samples: number[] = [];
  #next = 50 * MB;

  note(bytes: number): void {
    if (bytes < this.#next) return;
    this.#next += 50 * MB;
    this.samples.push(residentSet());
  }

  report(what: string): void {
    if (this.samples.length < 3) return;
    const [first, ...rest] = this.samples.slice(1);
    console.log(
      `${what}: RSS ${this.samples.join(" ")} MB; most after 100 MB: +${(Math.max(...rest) - first).toFixed(1)} MB`,
    );
  }
}

/** Reads a body of `size` bytes at `rate` bytes a second. */
export async function download(
  { client, url, seen }: Scene,
  size: number,
  rate: number,
  name: Protocol,
): Promise<void> {
  const response = await client.fetch(`${url}/bytes/${size}`);
  const flatness = new Flatness();
  const began = performance.now();
  let read = 0;
  let checks = 0;
  for await (const chunk of response.body!) {
    read += chunk.length;
    flatness.note(read);
    await keepPace(began, read, rate);
    if (read / size * 10 < ++checks) continue;
    const { sent } = await seen();
    assert.ok(sent - read < onItsWay[name]!, `the server could send ${sent} bytes, of which ${read} were read`);
  }
  assert.equal(read, size);
  flatness.report(`${name}, down`);
}

/** Sends a body of `size` bytes at `rate` bytes a second. */
export async function upload({ client, url }: Scene, size: number, rate: number, name: string): Promise<void> {
  const flatness = new Flatness();
  const began = performance.now();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      await keepPace(began, sent, rate);
      const chunk = Buffer.alloc(Math.min(65_536, size - sent), sent & 255);
      sent += chunk.length;
      flatness.note(sent);
      controller.enqueue(chunk);
      if (sent === size) controller.close();
    },
  }, { highWaterMark: 0 });
  const response = await client.fetch(`${url}/sink`, { method: "POST", body });
  assert.equal(await response.text(), String(size));
  flatness.report(`${name}, up`);
}

/** Makes requests, 100 at a time: most with small answers, some with bodies, some aborted or cancelled, all with one signal. */
export async function manyRequests({ client, url, seen }: Scene, count: number, name: string): Promise<void> {
  const { signal } = new AbortController();
  let made = 0;
  const began = performance.now();
  const report = async (): Promise<void> => {
    if (count < 100_000) return;
    const { sockets, accepted } = await seen();
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    const state = { made, seconds, ...memory(), sockets, accepted, listeners: listenersOf(signal), ...timers() };
    console.log(name, JSON.stringify(state));
  };
  const worker = async (): Promise<void> => {
    while (made < count) {
      const index = made++;
      if (index % (count / 10) === 0) await report();
      await oneOfMany(client, url, index, signal);
    }
  };
  await Promise.all(Array.from({ length: 100 }, worker));
  await report();
  await until(() => listenersOf(signal) <= 0, "the end of all listeners at the signal"); // a body that was sent ends a turn later
}

async function oneOfMany(client: HttpClient, url: string, index: number, signal: AbortSignal): Promise<void> {
  const kind = index % 20;
  if (kind === 0) {
    const response = await client.fetch(`${url}/sink`, { method: "POST", body: "twenty bytes of body", signal });
    assert.equal(await response.text(), "20");
  } else if (kind === 1) {
    const response = await client.fetch(`${url}/bytes/5000`, { signal });
    await response.body?.cancel();
  } else if (kind === 2) {
    const response = await client.fetch(`${url}/bytes/100000`, { signal });
    let read = 0;
    for await (const chunk of response.body!) read += chunk.length;
    assert.equal(read, 100_000);
  } else {
    const response = await client.fetch(`${url}/bytes/1000`, kind < 10 ? { signal } : undefined);
    assert.equal((await response.arrayBuffer()).byteLength, 1000);
  }
}

/** Makes requests that are all aborted: before they are sent, while they wait for an answer, or for its body. */
export async function manyAborts({ client, url, seen }: Scene, count: number, name: string): Promise<void> {
  const reason = new Error("enough");
  let made = 0;
  let lastReport = 0;
  const worker = async (): Promise<void> => {
    while (made < count) {
      const index = made++;
      if (count >= 10_000 && index - lastReport >= count / 10) {
        lastReport = index;
        console.log(name, JSON.stringify({ made, ...memory(), ...await seen(), ...timers() }));
      }
      await oneAbort(client, url, index, reason);
    }
  };
  await Promise.all(Array.from({ length: 100 }, worker));
  await until(() => client.stats().active === 0, "the end of all requests");
}

async function oneAbort(client: HttpClient, url: string, index: number, reason: Error): Promise<void> {
  const abort = new AbortController();
  const stage = index % 4;
  try {
    const response = client.fetch(`${url}${stage === 3 ? "/stuck" : "/hang"}`, {
      signal: abort.signal,
      ...(stage === 1 ? { method: "POST", body: "twenty bytes of body" } : {}),
    });
    if (stage === 0) abort.abort(reason);
    else if (stage < 3) setTimeout(() => abort.abort(reason), index % 7);
    const { body } = await response;
    abort.abort(reason);
    for await (const _ of body!);
  } catch (error) {
    if (error === reason) return;
    throw error;
  }
  throw new Error("it was not aborted");
}

/**
 * Drops responses without reading their bodies, each larger than the initial window: they must not keep streams open.
 */
export async function droppedResponses({ client, url, seen }: Scene, count: number): Promise<void> {
  for (let made = 0; made < count; made += 50) {
    const intercept: HttpInterceptor[] = [(request, next) => next(request)];
    const init = (i: number): HttpRequestInit => i % 2 === 0 ? {} : { intercept };
    await Promise.all(Array.from({ length: 50 }, (_, i) => client.fetch(`${url}/bytes/3000000`, init(i))));
  }
  for (let tries = 0; (await seen()).streams > 0 || client.stats().active > 0; tries++) {
    assert.ok(tries < 300, `${client.stats().active} requests are under way for ever`);
    memory(); // collects
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Returns the number of a signal's listeners; -1 where the runtime does not report it. */
function listenersOf(signal: AbortSignal): number {
  try {
    return getEventListeners(signal, "abort").length;
  } catch {
    return -1;
  }
}

/** Timers and sockets that the runtime counts, where it does. */
function timers(): { resources?: Record<string, number> } {
  const { getActiveResourcesInfo } = process as { getActiveResourcesInfo?: () => string[] };
  if (!getActiveResourcesInfo) return {};
  const resources: Record<string, number> = {};
  for (const kind of getActiveResourcesInfo.call(process)) resources[kind] = (resources[kind] ?? 0) + 1;
  return { resources };
}
