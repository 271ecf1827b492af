import assert from "node:assert/strict";
import test from "node:test";
import { pause, until } from "../../support/waits.ts";
import { ErrorCode, Setting } from "./http2_frames.ts";
import type { Origin } from "./origin.ts";
import type { ServerRequest } from "./server_request.ts";
import { burst, checkEchoes, echoPath, trial } from "./trial.ts";

const streams = (count: number): { [Setting.maxConcurrentStreams]: number } => ({
  [Setting.maxConcurrentStreams]: count,
});

/** Answers all requests that wait; how many did. */
function answerAll(origin: Origin, answered: Set<ServerRequest>): number {
  const waiting = origin.requests.filter((request) => !answered.has(request));
  for (const request of waiting) {
    answered.add(request);
    echoPath(request);
  }
  return waiting.length;
}

/** Answers only when no more requests come: each round is as large as the client makes it. */
async function answerInRounds(origin: Origin, total: number, round: (waiting: number) => number): Promise<number[]> {
  const answered = new Set<ServerRequest>();
  const rounds: number[] = [];
  while (answered.size < total) {
    const expected = round(total - answered.size);
    await until(() => origin.requests.length - answered.size >= expected, `${expected} requests at a time`);
    await pause(20); // for what might come too much
    rounds.push(answerAll(origin, answered));
  }
  return rounds;
}

for (const protocol of ["h2", "h2c"] as const) {
  test(`a cold burst of 100 shares one socket and one session (${protocol})`, () =>
    trial(protocol, { settings: streams(250) }, async (scene) => {
      const responses = burst(scene, 100);
      const rounds = await answerInRounds(scene.origin, 100, (waiting) => waiting);
      await checkEchoes(responses);
      assert.deepEqual(rounds, [100]);
      assert.equal(scene.origin.listener.accepted, 1);
      assert.equal(scene.origin.peers.length, 1);
      assert.equal(scene.client.stats().sessions, 1);
    }));
}

test("a burst of 400 over one connection fills the 250 streams that the server allows, and needs two rounds", () =>
  trial("h2", { settings: streams(250), client: { connections: 1 } }, async (scene) => {
    const responses = burst(scene, 400);
    const rounds = await answerInRounds(scene.origin, 400, (waiting) => Math.min(waiting, 250));
    await checkEchoes(responses);
    assert.deepEqual(rounds, [250, 150]);
    assert.deepEqual([scene.origin.listener.accepted, scene.origin.peak], [1, 250]);
    assert.equal(scene.origin.peer.excess, 0);
  }));

test("100 requests to a server that allows 10 streams are spread over sessions, none of them above 10", () =>
  trial("h2", { settings: streams(10) }, async (scene) => {
    const responses = burst(scene, 100);
    const rounds = await answerInRounds(scene.origin, 100, (waiting) => waiting);
    await checkEchoes(responses);
    assert.deepEqual(rounds, [100]);
    assert.equal(scene.origin.peak, 10);
    assert.equal(scene.origin.peers.reduce((sum, peer) => sum + peer.excess, 0), 0);
    assert.ok(scene.origin.peers.length <= 11, `${scene.origin.peers.length} sessions`);
  }));

test("100 requests to a server that allows 10 streams queue for one connection", () =>
  trial("h2", { settings: streams(10), client: { connections: 1 } }, async (scene) => {
    const responses = burst(scene, 100);
    const rounds = await answerInRounds(scene.origin, 100, (waiting) => Math.min(waiting, 10));
    await checkEchoes(responses);
    assert.deepEqual(rounds, Array(10).fill(10));
    assert.deepEqual([scene.origin.listener.accepted, scene.origin.peak, scene.origin.peer.excess], [1, 10, 0]);
  }));

test("maxConcurrentStreams lowers what the server allows, and does not raise it", async () => {
  for (const [ours, theirs, peak] of [[5, 10, 5], [20, 10, 10]]) {
    const client = { connections: 1, maxConcurrentStreams: ours };
    await trial("h2c", { settings: streams(theirs), client }, async (scene) => {
      const responses = burst(scene, 30);
      await answerInRounds(scene.origin, 30, (waiting) => Math.min(waiting, peak));
      await checkEchoes(responses);
      assert.deepEqual([scene.origin.peak, scene.origin.peer.excess], [peak, 0]);
    });
  }
});

test("a burst of 20 to a server of HTTP/1.1 over TLS has a socket each as soon as ALPN has answered", () =>
  trial("http/1.1 over TLS", { client: { connections: 20 } }, async (scene) => {
    const responses = burst(scene, 20);
    const rounds = await answerInRounds(scene.origin, 20, (waiting) => waiting);
    await checkEchoes(responses);
    assert.deepEqual(rounds, [20]);
    assert.equal(scene.origin.listener.accepted, 20);
    // and the next burst finds them there
    const again = burst(scene, 20);
    await until(() => scene.origin.requests.length === 40, "20 more requests");
    for (const request of scene.origin.requests.slice(20)) echoPath(request);
    await checkEchoes(again);
    assert.equal(scene.origin.listener.accepted, 20);
  }));

test("connections bounds the sockets of HTTP/1.1, and pipelining is one unless asked for", () =>
  trial("http/1.1", { client: { connections: 4 } }, async (scene) => {
    const responses = burst(scene, 20);
    const rounds = await answerInRounds(scene.origin, 20, (waiting) => Math.min(waiting, 4));
    await checkEchoes(responses);
    assert.deepEqual(rounds, Array(5).fill(4));
    assert.equal(scene.origin.listener.accepted, 4);
  }));

test("SETTINGS that change while requests wait are kept to at once, 0 too", () =>
  trial("h2", { settings: streams(250), client: { connections: 1 } }, async (scene) => {
    const { origin } = scene;
    const answered = new Set<ServerRequest>();
    const responses = burst(scene, 300);
    await until(() => origin.requests.length === 250, "250 requests");
    const { peer } = origin;
    let free = 0;
    for (const limit of [10, 1, 0, 3, 0, 20]) {
      await peer.settings(streams(limit));
      const before = origin.requests.length;
      answerAll(origin, answered);
      free = Math.min(limit, 300 - before);
      await until(() => origin.requests.length >= before + free, `${free} more requests`);
      await pause(20);
      assert.equal(origin.requests.length, before + free, `with ${limit} streams allowed`);
    }
    await peer.settings(streams(250));
    await until(() => origin.requests.length === 300, "300 requests");
    answerAll(origin, answered);
    await checkEchoes(responses);
    assert.deepEqual([origin.listener.accepted, peer.excess], [1, 0]);
  }));

test("a server that lowers SETTINGS without waiting for the acknowledgement refuses what is above, and no caller sees it", () =>
  trial("h2c", { settings: streams(100), client: { connections: 1 } }, async (scene) => {
    const { origin } = scene;
    const responses = burst(scene, 60, () => ({ method: "POST", body: "once" }));
    await until(() => origin.requests.length === 60, "60 requests");
    const { peer } = origin;
    void peer.settings(streams(5));
    peer.maxStreams = 5; // now, not when it is acknowledged
    const refused = origin.requests.slice(5);
    for (const request of refused) request.reset(ErrorCode.refusedStream);
    const answered = new Set(refused);
    for (let open = 60; open > 0; open -= Math.min(open, 5)) {
      const expected = Math.min(open, 5);
      await until(() => origin.requests.length - answered.size >= expected, `${expected} requests`);
      answerAll(origin, answered);
    }
    await checkEchoes(responses);
    assert.equal(origin.requests.length, 60 + 55);
  }));
