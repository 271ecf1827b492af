import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import test from "node:test";
import { HttpClient } from "../../../lib/http/mod.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Setting, settingsFrame } from "../faults/http2_frames.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { Listener } from "../faults/listener.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { type Protocol, PROTOCOLS } from "../scene.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { until, within } from "../../support/waits.ts";

/** The number of loops of requests, and the time in ms for which they go on. */
const LOOPS = 8;
const TIME = 600;
/** Pauses of 50, 100, 200 and 400 ms fit into that time, if no attempt takes longer. */
const ROUNDS = 5;

const ENDS: Readonly<Record<string, (socket: Socket) => void>> = {
  "closed at once": (socket) => void socket.destroy(),
  "ended at once": (socket) => void socket.resume().end(),
  "reset once a request is there": (socket) => void socket.once("data", () => socket.resetAndDestroy()),
  "closed behind SETTINGS": (socket) => void socket.resume().end(settingsFrame({})),
};

/** Keeps two open connections busy with loops of requests while the server ends further ones by `end`, and counts the attempts. */
async function storm(protocol: Protocol, words: string, end: (socket: Socket) => void): Promise<void> {
  let isOpen = true;
  let waiting: ServerRequest[] = [];
  const owner = {
    settings: { [Setting.maxConcurrentStreams]: 1 },
    violations: [],
    onRequest: (request: ServerRequest): void => {
      if (request.path === "/first") waiting.push(request);
      else setTimeout(() => respond(request, 200, Buffer.from("fine")), 2);
    },
  };
  const listener = await new Listener({}, (socket) => {
    if (!isOpen) return void end(socket.on("error", () => {}));
    if (protocol === "h2c") new Http2Peer(socket, owner);
    else new Http1Peer(socket, owner);
  }).start();
  let attempts = 0;
  const client = new HttpClient({
    h2c: protocol === "h2c",
    connections: 32,
    retries: LOOPS * ROUNDS, // a lost request is first in the queue, and connections of one round open one after the other
    onEvent: ({ type }) => {
      if (type === "connect" || type === "connectFailed") attempts++;
    },
  });
  try {
    const first = Array.from({ length: 2 }, async () => (await client.fetch(`${listener.origin}/first`)).text());
    await until(() => waiting.length === 2, "two connections");
    for (const request of waiting.splice(0)) respond(request, 200, Buffer.from("fine"));
    await Promise.all(first);
    waiting = [];
    isOpen = false;
    attempts = 0;
    let served = 0;
    const stop = performance.now() + TIME;
    const loops = Array.from({ length: LOOPS }, async () => {
      for (; performance.now() < stop; served++) await (await client.fetch(listener.origin)).text();
    });
    await within(Promise.all(loops), "all requests");
    assert.ok(attempts <= ROUNDS * LOOPS, `${words}: ${attempts} attempts to connect for ${served} requests`);
  } finally {
    client.destroy();
    await listener.stop();
  }
}

for (const protocol of PROTOCOLS) {
  const ends = Object.entries(ENDS).filter(([words]) => protocol === "h2c" || !words.includes("SETTINGS"));
  test(`${protocol}: while open connections serve requests, attempts are paused if further ones end unanswered, and each GET has a response`, async () => {
    await Promise.all(ends.map(([words, end]) => storm(protocol, words, end)));
  });
}

/** Calls `steps` with a client that has one open connection, which stays busy, while the clock stands: pauses do not end by themselves. */
async function besideBusyOne(
  steps: (scene: {
    client: HttpClient;
    origin: string;
    clock: FakeClock;
    listener: Listener;
    requests: ServerRequest[];
    failures: string[];
  }) => Promise<void>,
): Promise<void> {
  const requests: ServerRequest[] = [];
  const owner = { violations: [], onRequest: (request: ServerRequest) => void requests.push(request) };
  const listener = await new Listener({}, (socket) => void new Http1Peer(socket, owner)).start();
  const failures: string[] = [];
  const client = new HttpClient({ onEvent: ({ type }) => type === "connectFailed" && void failures.push(type) });
  const { origin } = listener;
  using clock = new FakeClock();
  try {
    const busy = client.fetch(`${origin}/busy`);
    await until(() => requests.length === 1, "the first request");
    requests[0].head(200, {});
    await busy;
    await within(steps({ client, origin, clock, listener, requests, failures }), "all requests", 10_000);
  } finally {
    client.destroy();
    await listener.stop();
  }
}

test("bodies that fail and responses that break HTTP pause no attempt", async () => {
  await besideBusyOne(async ({ client, origin, requests }) => {
    for (let i = 0; i < 2; i++) {
      const body = async function* (): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(1);
        await until(() => requests.length === 2 + 2 * i, "the upload");
        throw new Error("the file is gone");
      };
      await assert.rejects(client.fetch(origin, { method: "POST", body: body() }), { code: "BODY_FAILED" });
      const broken = client.fetch(origin);
      broken.catch(() => {});
      await until(() => requests.length === 3 + 2 * i, "the request");
      requests.at(-1)!.socket.write("HTTP/1.1 what\r\n\r\n");
      await assert.rejects(broken, { code: "PROTOCOL_ERROR" });
    }
  });
});

test("a connection that answers its first request ends the pause after another one that did not", async () => {
  await besideBusyOne(async ({ client, origin, requests }) => {
    const both = [client.fetch(`${origin}/lost`), client.fetch(`${origin}/good`)];
    await until(() => requests.length === 3, "two requests");
    const of = (path: string): ServerRequest => requests.findLast((request) => request.path === path)!;
    of("/lost").socket.destroy();
    await until(() => client.stats().queued === 1, "the request that waits");
    assert.equal(client.stats().connecting, 0);
    of("/good").head(200, {});
    await both[1];
    await until(() => requests.length === 4, "the request that waited");
    respond(of("/lost"), 200, Buffer.from("fine"));
    assert.equal(await (await both[0]).text(), "fine");
  });
});

test("the time for which attempts may fail begins with the first that fails, whatever was lost before", async () => {
  await besideBusyOne(async ({ client, origin, clock, listener, requests, failures }) => {
    const lost = client.fetch(origin, { method: "POST" });
    lost.catch(() => {});
    await until(() => requests.length === 2, "the request");
    requests[1].socket.destroy();
    await assert.rejects(lost, { code: "CONNECTION_LOST" });
    clock.turn(60_000);
    listener.close();
    const later = client.fetch(origin);
    later.catch(() => {});
    await until(() => failures.length === 1, "an attempt that fails");
    await listener.start();
    clock.turn(2000);
    await until(() => requests.length === 3, "the request");
    respond(requests[2], 200, Buffer.from("fine"));
    assert.equal(await (await later).text(), "fine");
  });
});
