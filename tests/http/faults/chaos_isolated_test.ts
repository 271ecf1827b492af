import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { type HttpClient, HttpError, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { tries } from "../../support/long_run.ts";
import { pause, until, within } from "../../support/waits.ts";
import { ChaosOrigin } from "./chaos_origin.ts";
import { Ledger, type Outcome } from "./ledger.ts";
import type { Protocol } from "./origin.ts";
import { chosenSeed, SeededRandom } from "./seeded_random.ts";
import { newClient, pattern, settled } from "./trial.ts";

const RETRIES = 2;
const enough = new Error("enough");

const sums: number[] = [0];
for (const byte of pattern.subarray(0, 40_000)) sums.push(sums[sums.length - 1] + byte);

/** A random request, and the handling of its response. */
interface Plan {
  readonly id: string;
  readonly init: HttpRequestInit;
  readonly mayRepeat: boolean;
  readonly isReplayable: boolean;
  readonly sent: number;
  readonly size: number;
  readonly abortAfter: number | undefined;
  readonly cancels: boolean;
}

function planned(id: string, random: SeededRandom): Plan {
  const method = random.pick(["GET", "GET", "POST", "POST", "PUT", "DELETE"]);
  const sent = method === "POST" || method === "PUT" ? random.pick([0, 10, 1000, 30_000]) : 0;
  const size = random.pick([0, 5, 500, 20_000, 100_000]);
  const isMarked = method === "POST" && random.chance(0.3);
  const isReplayable = sent === 0 || random.chance(0.5);
  const body = sent === 0 ? undefined : isReplayable ? pattern.subarray(0, sent) : streamed(sent);
  const headers: Record<string, string> = { "x-id": id, "x-size": String(size) };
  const init: HttpRequestInit = { method, body, headers, idempotent: isMarked || undefined };
  if (random.chance(0.005)) {
    headers["x-doom"] = random.pick(["answer", "end"]);
    init.headersTimeout = init.bodyTimeout = 200;
  }
  const abortAfter = random.chance(0.03) ? random.below(10) : undefined;
  const mayRepeat = method !== "POST" || isMarked;
  return { id, init, mayRepeat, isReplayable, sent, size, abortAfter, cancels: random.chance(0.02) };
}

function streamed(size: number): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull: (controller) => {
      const end = Math.min(size, sent + 7000);
      controller.enqueue(new Uint8Array(pattern.subarray(sent, end)));
      sent = end;
      if (sent === size) controller.close();
    },
  }, { highWaterMark: 0 });
}

async function carryOut(plan: Plan, client: HttpClient, url: string): Promise<Outcome> {
  const abort = new AbortController();
  if (plan.abortAfter !== undefined) setTimeout(() => abort.abort(enough), plan.abortAfter);
  try {
    const response = await client.fetch(url, { ...plan.init, signal: abort.signal });
    assert.equal(response.headers.get("x-id"), plan.id);
    if (plan.cancels) {
      await response.body?.cancel();
      return "cancelled";
    }
    const body = Buffer.from(await response.arrayBuffer());
    assert.ok(body.equals(pattern.subarray(0, plan.size)), `${body.length} bytes for ${plan.size}`);
    assert.equal(response.headers.get("x-sum"), String(sums[plan.sent]));
    return "ok";
  } catch (error) {
    if (error === enough) return "aborted";
    if (error instanceof HttpError) return error.code;
    throw error;
  }
}

interface Party {
  readonly chaos: ChaosOrigin;
  readonly client: HttpClient;
  readonly requests: number;
  readonly workers: number;
}

/** Sends the requests of one origin, `workers` at a time. */
async function run({ chaos, client, requests, workers }: Party, random: SeededRandom): Promise<void> {
  const { ledger, origin } = chaos;
  let next = 0;
  await Promise.all(Array.from({ length: workers }, async () => {
    while (next < requests) {
      const plan = planned(String(next++), random);
      const entry = ledger.open(plan.id, {
        method: plan.init.method!,
        mayRepeat: plan.mayRepeat,
        isReplayable: plan.isReplayable,
      });
      if (plan.init.headersTimeout) entry.faults.push("doomed");
      const outcome = await carryOut(plan, client, `${origin.url}/${plan.id}`);
      ledger.close(entry, outcome);
      if (outcome === "CONNECTION_REFUSED") await pause(20);
    }
  }));
}

/** Requires that nothing is left open, and that the client still works. */
async function conclude({ chaos, client }: Party): Promise<void> {
  await chaos.calm();
  await settled(client);
  chaos.ledger.check(RETRIES);
  const entry = chaos.ledger.open("last", { method: "GET", mayRepeat: true, isReplayable: true });
  const response = await client.fetch(chaos.origin.url, { headers: { "x-id": "last", "x-size": "5" } });
  assert.equal((await response.arrayBuffer()).byteLength, 5);
  chaos.ledger.close(entry, "ok");
  await settled(client);
  for (const socket of chaos.origin.listener.sockets) socket.resume(); // of those that were silent
  await within(client.close(), "close()");
  await until(() => chaos.origin.listener.sockets.size === 0, "the end of all sockets");
  assert.deepEqual(chaos.origin.violations, []);
}

/** Destroys the client during all requests: every request ends, and no socket is left. */
async function destroyedMeanwhile(random: SeededRandom, protocol: Protocol): Promise<void> {
  const chaos = new ChaosOrigin(protocol, random, new Ledger(), 200);
  const client = newClient({ h2c: protocol === "h2c", connections: 60 });
  try {
    await chaos.origin.start();
    const done = run({ chaos, client, requests: 1000, workers: 100 }, random);
    await until(() => chaos.ledger.closed >= 300, "300 requests");
    client.destroy(enough);
    await within(done, "the end of all requests");
    assert.ok((chaos.ledger.outcomes().CLIENT_CLOSED ?? 0) >= 500);
    await chaos.calm();
    for (const socket of chaos.origin.listener.sockets) socket.resume(); // of those that were silent
    await until(() => chaos.origin.listener.sockets.size === 0, "the end of all sockets");
    await settled(client);
    await within(client.close(), "close()");
    assert.equal(client.stats().connections, 0);
  } finally {
    client.destroy();
    await chaos.stop();
  }
}

/** Runs an origin and a client: `requests` requests, `workers` at a time. */
async function chaosOf(random: SeededRandom, protocol: Protocol, requests: number, workers: number): Promise<void> {
  const chaos = new ChaosOrigin(protocol, random, new Ledger(), requests / 4);
  const options = { pingInterval: 200, pingTimeout: 2500, retries: RETRIES, connections: 60 };
  const party: Party = { chaos, client: newClient({ ...options, h2c: protocol === "h2c" }), requests, workers };
  try {
    await chaos.origin.start();
    await within(run(party, random), `${requests} requests`);
    console.log(protocol, JSON.stringify(chaos.ledger.outcomes()));
    await conclude(party);
  } finally {
    party.client.destroy();
    await chaos.stop();
  }
}

/** Runs with a seed of its own, which is printed; no rejection may be left unhandled. */
async function seeded(act: (random: SeededRandom) => Promise<void>): Promise<void> {
  const seed = chosenSeed();
  console.log(`seed ${seed}`); // MILLRACE_SEED=<seed> repeats it
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  try {
    await act(new SeededRandom(seed));
  } finally {
    process.off("unhandledRejection", onUnhandled);
  }
  assert.deepEqual(unhandled, []);
}

test(`${tries(10_000)} requests under random faults all end, each accounted for, none lost and none done twice`, () =>
  seeded(async (random) => {
    // In pairs: all at once, one loop would be too slow to accept the sockets of HTTP/1.1 in time.
    const pairs: [Protocol, number, number][][] = [
      [["h2", tries(4000), 150], ["h2c", tries(3000), 100]],
      [["http/1.1", tries(1500), 40], ["http/1.1 over TLS", tries(1500), 40]],
    ];
    for (const pair of pairs) await Promise.all(pair.map((share) => chaosOf(random, ...share)));
  }));

test("destroy() in the middle of random faults ends every request and every socket", () =>
  seeded(async (random) => {
    for (const protocol of ["h2", "h2c", "http/1.1", "http/1.1 over TLS"] as const) {
      await destroyedMeanwhile(random, protocol);
    }
  }));
