import assert from "node:assert/strict";
import test from "node:test";
import { pause, until, within } from "../../support/waits.ts";
import { Setting } from "./http2_frames.ts";
import { Listener } from "./listener.ts";
import { Origin } from "./origin.ts";
import { SilentProxy } from "./silent_proxy.ts";
import {
  burst,
  checkEchoes,
  echoPath,
  failureOf,
  newClient,
  outcomeOf,
  pattern,
  settled,
  tally,
  trial,
} from "./trial.ts";

const alert = { pingInterval: 50, pingTimeout: 500 };

test("PING finds a peer that fell silent: POSTs fail with CONNECTION_STALE, GETs are sent again on a new connection", async () => {
  const origin = await new Origin("h2").start();
  const proxy = new SilentProxy(() => origin.listener.port);
  await proxy.listener.start();
  const client = newClient(alert);
  const url = `https://127.0.0.1:${proxy.listener.port}`;
  try {
    const responses = Array.from(
      { length: 20 },
      (_, index) => client.fetch(`${url}/${index}`, index % 2 ? { method: "POST", body: "once" } : {}),
    );
    await until(() => origin.requests.length === 20, "20 requests");
    await pause(300);
    assert.ok(origin.peer.pings > 0, "the silence of a slow handler is asked about");
    assert.equal(client.stats().active, 20, "and is no reason to give up");
    proxy.silence();
    origin.onRequest = echoPath;
    const outcomes = await within(Promise.all(responses.map(outcomeOf)), "the end of all");
    outcomes.forEach((outcome, index) => assert.equal(outcome, index % 2 ? "CONNECTION_STALE" : "ok"));
    await settled(client);
    await within(client.close(), "close()");
    assert.deepEqual(origin.violations, []);
  } finally {
    client.destroy();
    await proxy.stop();
    await origin.stop();
  }
});

test("PING finds a peer that stopped reading while a body goes up", () =>
  trial("h2c", { client: alert }, async (scene) => {
    const { origin } = scene;
    const response = outcomeOf(scene.client.fetch(scene.url("/"), {
      method: "POST",
      duplex: "half",
      body: new ReadableStream({ pull: (controller) => controller.enqueue(pattern) }, { highWaterMark: 0 }),
    }));
    await until(() => (origin.requests[0]?.received ?? 0) > 0, "some of the body");
    origin.peer.socket.pause();
    assert.equal(await response, "CONNECTION_STALE");
    origin.peer.socket.destroy();
  }));

test("a server that never answers PING but sends is not taken for dead", () =>
  trial("h2c", { client: alert, onPeer: (peer) => void (peer.isMute = true) }, async (scene) => {
    const { origin } = scene;
    const response = scene.client.fetch(scene.url("/"));
    await until(() => origin.requests.length === 1, "the request");
    origin.requests[0].head(200);
    const { body } = await response;
    for (let times = 0; times < 12; times++) {
      origin.requests[0].data(pattern.subarray(0, 10));
      await pause(25);
    }
    origin.requests[0].end();
    assert.equal((await new Response(body).bytes()).length, 120);
    origin.peer.isMute = false;
  }));

test("a handshake that hangs ends with CONNECT_TIMEOUT, for each request that waited for it", async () => {
  const listener = await new Listener({}, (socket) => socket.resume()).start();
  const client = newClient({ connectTimeout: 100 });
  try {
    const url = `https://127.0.0.1:${listener.port}/`;
    const outcomes = await within(Promise.all(Array.from({ length: 20 }, () => failureOf(client.fetch(url)))), "all");
    assert.deepEqual(tally(outcomes), { CONNECT_TIMEOUT: 20 });
    await settled(client);
    await until(() => listener.sockets.size === 0, "the end of all sockets");
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    await listener.stop();
  }
});

test("abort and destroy() while a handshake hangs end the attempt, and start no other", async () => {
  const listener = await new Listener({}, (socket) => socket.resume()).start();
  const client = newClient({});
  try {
    const url = `https://127.0.0.1:${listener.port}/`;
    const reason = new Error("enough");
    const abort = new AbortController();
    const aborted = Promise.allSettled(Array.from({ length: 20 }, () => client.fetch(url, { signal: abort.signal })));
    await until(() => listener.sockets.size === 1, "the attempt");
    abort.abort(reason);
    for (const outcome of await aborted) assert.equal(outcome.status === "rejected" && outcome.reason, reason);
    await until(() => listener.sockets.size === 0, "the end of the attempt");
    await pause(20);
    assert.deepEqual([listener.accepted, client.stats().connecting], [1, 0]);
    const destroyed = failureOf(client.fetch(url));
    await until(() => listener.sockets.size === 1, "another attempt");
    client.destroy();
    assert.equal(await destroyed, "CLIENT_CLOSED");
    await until(() => listener.sockets.size === 0, "the end of that attempt");
    await pause(20);
    assert.deepEqual([listener.accepted, client.stats().connecting], [2, 0]);
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    await listener.stop();
  }
});

test("a TLS handshake that is cut ends with one typed error for each request, and the next try starts anew", async () => {
  let isBroken = true;
  const origin = await new Origin("h2", { onRequest: echoPath }).start();
  const proxy = new SilentProxy(() => origin.listener.port);
  proxy.onSocket = (socket) => {
    if (isBroken) socket.once("data", () => socket.destroy());
    return isBroken;
  };
  await proxy.listener.start();
  const client = newClient({});
  try {
    const url = `https://127.0.0.1:${proxy.listener.port}/0`;
    const outcomes = await within(Promise.all(Array.from({ length: 20 }, () => failureOf(client.fetch(url)))), "all");
    assert.equal(new Set(outcomes).size, 1);
    assert.ok(["TLS_FAILED", "CONNECTION_LOST"].includes(outcomes[0]), outcomes[0]);
    isBroken = false;
    assert.equal(await (await client.fetch(url)).text(), "/0");
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    await proxy.stop();
    await origin.stop();
  }
});

for (const protocol of ["h2", "http/1.1"] as const) {
  test(`a server that takes requests and never answers: HEADERS_TIMEOUT, and the slot is free (${protocol})`, () =>
    trial(protocol, { client: { headersTimeout: 1000, connections: 10 } }, async (scene) => {
      const { origin } = scene;
      const outcomes = await Promise.all(burst(scene, 10, () => ({ method: "POST", body: "once" })).map(outcomeOf));
      assert.deepEqual(tally(outcomes), { HEADERS_TIMEOUT: 10 });
      assert.equal(origin.requests.length, 10);
      origin.onRequest = echoPath;
      await checkEchoes(burst(scene, 10));
    }));

  test(`a body that stops in the middle: BODY_TIMEOUT for its reader, others go on (${protocol})`, () =>
    trial(protocol, { client: { bodyTimeout: 400 } }, async (scene) => {
      scene.origin.onRequest = (request) => {
        if (request.path !== "/0") return echoPath(request);
        request.head(200);
        request.data(pattern.subarray(0, 1000));
      };
      const [stuck, ...others] = burst(scene, 10);
      assert.equal(await outcomeOf(stuck), "BODY_TIMEOUT");
      assert.deepEqual(tally(await Promise.all(others.map(outcomeOf))), { ok: 9 });
      await settled(scene.client);
    }));

  test(`a body that comes byte by byte, slower than bodyTimeout in all, is whole (${protocol})`, () =>
    trial(protocol, { client: { bodyTimeout: 2000 } }, async (scene) => {
      scene.origin.onRequest = (request) => {
        request.head(200);
        let sent = 0;
        const timer = setInterval(() => {
          request.data(pattern.subarray(sent, sent + 1));
          if (++sent < 25) return;
          clearInterval(timer);
          request.end();
        }, 90);
      };
      const texts = await Promise.all(burst(scene, 10).map(async (response) => (await response).text()));
      assert.deepEqual(texts, Array(10).fill(pattern.toString("latin1", 0, 25)));
    }));
}

test("a session whose server allows no stream at all does not keep close() or an abort waiting", () =>
  trial("h2", { settings: { [Setting.maxConcurrentStreams]: 0 }, client: { connections: 1 } }, async (scene) => {
    const abort = new AbortController();
    const responses = burst(scene, 10, () => ({ signal: abort.signal }));
    const outcomes = Promise.allSettled(responses);
    await until(() => scene.origin.peers.length === 1 && scene.client.stats().queued >= 9, "a queue");
    await pause(20);
    assert.ok(scene.origin.requests.length <= 1);
    const reason = new Error("enough");
    abort.abort(reason);
    for (const outcome of await outcomes) assert.equal(outcome.status === "rejected" && outcome.reason, reason);
    await settled(scene.client);
    await scene.origin.peer.settings({ [Setting.maxConcurrentStreams]: 5 });
  }));
