import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFile } from "node:fs";
import {
  getDefaultAutoSelectFamilyAttemptTimeout,
  isIP,
  type LookupFunction,
  setDefaultAutoSelectFamilyAttemptTimeout,
  type Socket,
} from "node:net";
import { nextTick } from "node:process";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { HttpClient, type HttpClientOptions, type HttpError } from "../../../lib/http/mod.ts";
import { turn, within } from "../../support/waits.ts";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Listener } from "../faults/listener.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";

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

/**
 * Blocks the program in a phase of the event loop until all responses are there and all deadlines have passed. Returns
 * the calls' outcomes.
 */
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

test("a host of which one address has no server is reached, be the other slow, or the program held up meanwhile", async () => {
  const patience = getDefaultAutoSelectFamilyAttemptTimeout();
  setDefaultAutoSelectFamilyAttemptTimeout(10);
  const serve = (socket: Socket): void =>
    void new Http1Peer(socket, {
      violations: [],
      onRequest: (request: ServerRequest): void => respond(request, 200, Buffer.from("fine")),
    });
  const plain = await new Listener({}, serve).start();
  const secured = await new Listener({ certificate: certificates }, serve).start();
  const ways: Record<string, { url: string; options?: HttpClientOptions }> = {
    "TCP": { url: `http://two.test:${plain.port}/` },
    "TLS": { url: `https://two.test:${secured.port}/` },
    "a proxy": { url: "http://one.test/", options: { proxy: `http://two.test:${plain.port}` } },
  };
  try {
    for (const [way, { url, options }] of Object.entries(ways)) {
      for (const addresses of [["127.0.0.1", "::1"], ["::1", "127.0.0.1"]]) {
        // The system has answered by the end of the turn in which it is connected to, and a timer is due by then as well.
        const lookup: LookupFunction = (_, _options, callback) => {
          callback(null, addresses.map((address) => ({ address, family: isIP(address) })));
          nextTick(() =>
            queueMicrotask(() => {
              for (const start = performance.now(); performance.now() - start < 30;);
            })
          );
        };
        const client = new HttpClient({ ...options, lookup, tls: { ca: certificates.ca, servername: "localhost" } });
        const answer = client.fetch(url).then((response) => response.text(), (error: HttpError) => error.message);
        assert.equal(await within(answer, "the response"), "fine", `${way}, ${addresses}`);
        await client.close();
      }
    }
  } finally {
    setDefaultAutoSelectFamilyAttemptTimeout(patience);
    await Promise.all([plain.stop(), secured.stop()]);
  }
});
