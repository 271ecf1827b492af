import assert from "node:assert/strict";
import { type HttpClient, type HttpClientOptions, HttpError, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { pause, turn } from "../../support/waits.ts";
import { certificates } from "../certificates.ts";
import type { SeededRandom } from "../faults/seeded_random.ts";
import { type Deed, Entry } from "./entry.ts";
import { CLEAR, type Found, SECURE, WAYS, type World } from "./world.ts";

const enough = new Error("enough");
const HOSTS = [...SECURE, ...SECURE, ...CLEAR];
const FOUND: readonly Found[] = [
  ["127.0.0.1"],
  ["127.0.0.1"],
  ["127.0.0.2"],
  ["127.0.0.2"],
  ["127.0.0.3"],
  ["127.0.0.2"],
  ["127.0.0.3"],
  ["127.0.0.4"],
  ["127.0.0.1", "127.0.0.2"],
  ["127.0.0.9"], // a port without a listener
  "fails",
  "hangs",
];
const KIND: readonly Deed[] = ["answer", "answer", "answer slowly", "answer in pieces", "redirect"];
const UNKIND: readonly Deed[] = [
  ...KIND,
  ...KIND,
  "answer before the body",
  "refuse",
  "go away",
  "reset",
  "cut",
  "cut",
  "cut before acting",
  "never answer",
  "never end",
];

/** Deeds that leave a request without an answer, and may be done to it again and again. */
const REFUSALS: readonly Deed[] = ["refuse", "go away", "reset", "cut", "cut before acting"];

/** Makes the options of a program's client. */
export function clientOptions(world: World, random: SeededRandom, isCalm: boolean): HttpClientOptions {
  const times = isCalm
    ? {}
    : { connectTimeout: 100, queueTimeout: 200, headersTimeout: 100, bodyTimeout: 100, timeout: 1000 };
  return {
    lookup: world.lookup,
    tls: { ca: certificates.ca },
    ...(random.chance(0.4) &&
      { proxy: ({ hostname }: URL) => world.proxyOf(hostname), proxyTls: { ca: certificates.ca } }),
    ...times,
    h2c: random.chance(0.5),
    connections: random.pick([1, 2, 4, 16]),
    maxConcurrentStreams: random.pick([1, 3, Infinity]),
    pipelining: random.pick([1, 1, 3]),
    retries: random.pick([0, 2]),
    maxAge: random.pick([undefined, 20]),
    allowAddress: world.refused === undefined
      ? undefined
      : (address, { redirect }) => !world.refuses(address, redirect),
    onEvent: (event) => {
      if (event.type !== "request" && event.type !== "retry") return;
      const entry = world.entryOf(Number(new URL(event.url).pathname.split("/")[1]))!;
      if (event.type === "request") return void entry.sent++;
      if (event.attempt === entry.attempts) entry.sent--; // nothing was sent
      entry.attempts = event.attempt;
    },
  };
}

/** Chooses by which way each host is reached. */
export function chooseWays(world: World, random: SeededRandom): void {
  for (const host of new Set(HOSTS)) world.setWay(host, random.pick(WAYS));
}

/** Random steps with one client: requests, and whatever goes wrong around them. */
export class Program {
  readonly #world: World;
  readonly #random: SeededRandom;
  readonly #client: HttpClient;
  readonly #isCalm: boolean;
  readonly #retries: number;
  readonly #running: Promise<void>[] = [];
  #next: number;

  /** @param retries The client's. */
  constructor(world: World, random: SeededRandom, client: HttpClient, isCalm: boolean, retries: number) {
    this.#world = world;
    this.#random = random;
    this.#client = client;
    this.#isCalm = isCalm;
    this.#retries = retries;
    this.#next = random.below(1000);
  }

  /** Runs a number of steps, and waits until all requests have ended. */
  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) await this.#step();
    await Promise.all(this.#running);
    assert.deepEqual(this.#world.wrong, []);
    for (const entry of this.#world.entries.values()) entry.check(this.#isCalm, this.#retries);
  }

  async #step(): Promise<void> {
    const random = this.#random;
    const dice = random.next();
    if (dice < 0.68) return void this.#running.push(this.#request(this.#randomEntry()));
    if (dice < 0.7) return void this.#running.push(this.#burstAndPill());
    if (dice < 0.8) return await pause(random.below(8));
    if (dice < 0.85) return await turn();
    if (this.#isCalm) return;
    const listener = random.pick(this.#world.listeners);
    if (dice < 0.9) this.#world.lead(random.pick(HOSTS), random.pick(FOUND));
    else if (dice < 0.93) random.pick(this.#world.machines).goAway();
    else if (dice < 0.95) listener.cut();
    else if (dice < 0.97) await listener.stop();
    else for (const each of this.#world.listeners) await this.#world.revive(each);
  }

  #randomEntry(): Entry {
    const random = this.#random;
    const hosts = Array.from({ length: 3 }, () => random.pick(HOSTS));
    const deeds = Array.from({ length: 4 }, () => random.pick(this.#isCalm ? KIND : UNKIND));
    return this.#entry(hosts, [...deeds, "answer"], random.chance(0.2));
  }

  #entry(hosts: readonly string[], deeds: readonly Deed[], isIdempotent: boolean): Entry {
    const entry = new Entry(this.#next++, hosts, deeds, isIdempotent);
    this.#world.entries.set(entry.id, entry);
    return entry;
  }

  /** Fills a host's pool with idle connections, and sends a request that the server never answers on any. */
  async #burstAndPill(): Promise<void> {
    const random = this.#random;
    const host = random.pick(HOSTS);
    const burst = Array.from({ length: 12 }, () => this.#request(this.#entry([host], ["answer slowly"], true)));
    await Promise.all(burst);
    if (!this.#isCalm) await this.#request(this.#entry([host], [random.pick(REFUSALS)], true));
  }

  async #request(entry: Entry): Promise<void> {
    const random = this.#random;
    const { hosts, isIdempotent } = entry;
    const method = random.pick(["GET", "POST", "POST", "PUT"]);
    const controller = new AbortController();
    const init: HttpRequestInit = { method, idempotent: isIdempotent || undefined, signal: controller.signal };
    const body = random.below(3);
    if (method !== "GET" && body > 0) {
      init.body = body === 1 ? "some text".repeat(100) : stream();
      // A redirect cannot be followed with a stream.
      if (body === 2) entry.isGivenUp = true;
    }
    const ends = random.pick(["read", "read", "read", "cancel"]);
    if (random.chance(0.25)) this.#abortLater(controller, entry);
    try {
      const response = await this.#client.fetch(this.#world.urlOf(hosts[0]!, `/${entry.id}/0`), init);
      assert.equal(response.headers.get("x-id") ?? String(entry.id), String(entry.id));
      if (ends === "cancel") {
        await response.body?.cancel();
        entry.isGivenUp = true;
        return entry.end("cancelled");
      }
      const text = await response.text();
      const { host, pathname } = new URL(response.url);
      const hop = Number(pathname.split("/")[2]);
      if (text !== `${entry.id}/${hop};`.repeat(20)) entry.wrong.push(`its response is ${text.slice(0, 50)}`);
      if (host.split(":")[0] !== hosts[hop]) entry.wrong.push(`its response is from ${host}`);
      if (!entry.acted[hop]) entry.wrong.push("it was answered and not done");
      entry.end("answered");
    } catch (error) {
      if (error === enough) return entry.end("aborted");
      assert.ok(error instanceof HttpError, `not an HttpError: ${(error as Error)?.stack ?? error}`);
      entry.end(`failed ${error.code}`);
    }
  }

  /** Aborts a request after a random number of microtasks, turns or milliseconds, in any state. */
  #abortLater(controller: AbortController, entry: Entry): void {
    entry.isGivenUp = true;
    const random = this.#random;
    const count = random.below(30);
    const wait = random.pick([() => Promise.resolve(), turn, () => pause(1)]);
    this.#running.push((async () => {
      for (let left = count; left > 0; left--) await wait();
      controller.abort(enough);
    })());
  }
}

/** Returns a body that comes in pieces, and can be sent once. */
function stream(): ReadableStream<Uint8Array> {
  let left = 3;
  return new ReadableStream({
    async pull(controller) {
      if (left-- === 0) return controller.close();
      if (left === 1) await turn();
      controller.enqueue(new Uint8Array(1000));
    },
  }, { highWaterMark: 0 });
}
