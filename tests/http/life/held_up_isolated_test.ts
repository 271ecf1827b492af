import assert from "node:assert/strict";
import { readFile } from "node:fs";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { HttpClient, type HttpClientOptions } from "../../../lib/http/mod.ts";
import { turn, within } from "../../support/waits.ts";

const MS = 250;
const PHASES: Record<string, (steps: () => void) => void> = {
  timer: (steps) => void setTimeout(steps, 1),
  immediate: (steps) => void setImmediate(steps),
  file: (steps) => readFile(new URL(import.meta.url), steps),
};

interface Case {
  readonly path: string;
  readonly options: HttpClientOptions;
}
const CASES: readonly Case[] = [
  { path: "/head", options: { headersTimeout: MS } },
  { path: "/head", options: { timeout: MS } },
  { path: "/half", options: { bodyTimeout: MS } },
  { path: "/half", options: { timeout: MS } },
  { path: "/head", options: { queueTimeout: MS, connections: 1, maxConcurrentStreams: 1 } },
];

/** Holds the program up in a phase of the event loop until all answers are there, and all deadlines have passed. Gives what the calls gave. */
async function runRound(enter: (steps: () => void) => void, origins: string[], shared: Int32Array): Promise<string[]> {
  const calls: { name: string; client: HttpClient; url: string }[] = [];
  for (const [i, origin] of origins.entries()) {
    for (const { path, options } of CASES) {
      const client = new HttpClient({ ...options, h2c: i === 1, retries: 0 });
      await (await client.fetch(`${origin}/fine`)).text();
      const name = `h${i + 1} ${path} ${Object.keys(options)[0]}`;
      calls.push({ name, client, url: origin + path });
      if (options.queueTimeout !== undefined) calls.push({ name, client, url: `${origin}/fine` });
    }
  }
  const connecting = new HttpClient({ connectTimeout: MS, retries: 0 });
  const ends: Promise<string>[] = [];
  const call = (name: string, client: HttpClient, url: string): void => {
    const end = client.fetch(url).then((response) => response.text());
    ends.push(end.catch((error) => `${name}: ${error.code ?? error}`));
  };
  const round = Atomics.load(shared, 0);
  const began = performance.now();
  for (const { name, client, url } of calls) call(name, client, url);
  while (Atomics.load(shared, 0) === round) await turn();
  const isInTime = await new Promise<boolean>((resolve) =>
    enter(async () => {
      call("connect", connecting, `${origins[0]}/fine`);
      for (let step = 0; step < 100; step++) await Promise.resolve(); // within this phase
      const start = performance.now();
      Atomics.add(shared, 1, 1);
      Atomics.notify(shared, 1);
      const all = (round + 1) * 2 * CASES.length;
      for (let sent: number; (sent = Atomics.load(shared, 2)) < all;) Atomics.wait(shared, 2, sent);
      while (performance.now() - start < MS * 1.1);
      resolve(start - began < MS);
    })
  );
  const results = await within(Promise.all(ends), "the end of all calls");
  for (const { client } of calls) client.destroy();
  connecting.destroy();
  return isInTime ? results : runRound(enter, origins, shared); // a busy machine held it up before
}

test("a deadline that comes while the program is held up fails no call whose answer is there", async () => {
  const shared = new Int32Array(new SharedArrayBuffer(12));
  const workerData = { shared, count: 2 * CASES.length };
  const worker = new Worker(new URL("held_up_server.ts", import.meta.url), { workerData });
  try {
    const origins = await new Promise<string[]>((resolve) => worker.once("message", resolve));
    for (const [phase, enter] of Object.entries(PHASES)) {
      const wrong = (await runRound(enter, origins, shared)).filter((result) => !/^(?:fine|somesome)$/.test(result));
      assert.deepEqual(wrong, [], phase);
    }
  } finally {
    await worker.terminate();
  }
});
