import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { afterPoll } from "../../../lib/runtime/mod.ts";
import type { Http2Options } from "../../../lib/http/h2/http2_stream.ts";
import { HttpError } from "../../../lib/http/http_error.ts";
import { ErrorCode, frame, FrameType, numberFrame, Setting, settingsFrame } from "../faults/http2_frames.ts";
import { dataFrame, headFrame, MemoryPeer, response } from "./memory_peer.ts";
import { type Answer, ask, openOn, openSession, turn } from "./opened_session.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { pause, until } from "../../support/waits.ts";
import { chosenSeed, SeededRandom } from "../faults/seeded_random.ts";
import { ScriptedBody, WholeBody } from "./scripted_body.ts";

const WINDOW = 65_535;
const LAST_STREAM = 2 ** 31 - 1;
const http11Required = 13;

function codeOfCause(answer: Answer): string | undefined {
  return (answer.error?.cause as { code?: string } | undefined)?.code;
}

// How many requests at a time.

test("before the server's SETTINGS came, allowedAtFirst requests may be started, then what they say", async () => {
  const peer = new MemoryPeer();
  const { session, owner } = openOn(peer, { allowedAtFirst: 3 });
  assert.deepEqual([session.free, session.peerMaxConcurrentStreams], [3, undefined]);
  ask(session);
  assert.equal(session.free, 2);
  peer.settings({ [Setting.maxConcurrentStreams]: 250 });
  assert.deepEqual([session.free, session.peerMaxConcurrentStreams], [249, 250]);
  await turn();
  assert.deepEqual(owner.calls, ["free 249"]);
});

test("one request may be started before the server's SETTINGS came, if nothing else is said", () => {
  assert.equal(openOn(new MemoryPeer(), { allowedAtFirst: undefined }).session.free, 1);
});

test("SETTINGS that say nothing of it allow any number, of which maxConcurrentStreams is ours", async () => {
  const { session } = await openSession({ maxConcurrentStreams: 7 });
  assert.deepEqual([session.free, session.peerMaxConcurrentStreams], [7, Infinity]);
});

test("the owner is told of the server's first SETTINGS though they allow nothing", async () => {
  const peer = new MemoryPeer();
  const { owner } = openOn(peer);
  peer.settings({ [Setting.maxConcurrentStreams]: 0 });
  await turn();
  assert.deepEqual(owner.calls, ["free 0"]);
});

test("maxConcurrentStreams does not raise what the server allows", async () => {
  const { session } = await openSession({ maxConcurrentStreams: 200 }, { [Setting.maxConcurrentStreams]: 10 });
  assert.equal(session.free, 10);
});

test("the server may lower its limit below what is under way: nothing is started until there is room again", async () => {
  const { session, peer, owner } = await openSession({}, { [Setting.maxConcurrentStreams]: 4 });
  const answers = [1, 2, 3, 4].map(() => ask(session));
  peer.settings({ [Setting.maxConcurrentStreams]: 2 });
  assert.equal(session.free, 0);
  await turn();
  assert.deepEqual(owner.calls, ["free 0"], "who waits may go elsewhere");
  peer.send(response(1, ""), response(3, ""));
  await turn();
  assert.deepEqual([session.free, session.active], [0, 2]);
  assert.deepEqual(owner.calls, ["free 0"]);
  peer.send(response(5, ""));
  await turn();
  assert.equal(session.free, 1);
  assert.deepEqual(owner.calls, ["free 0", "free 1"]);
  peer.settings({ [Setting.maxConcurrentStreams]: 100 });
  await turn();
  assert.deepEqual(owner.calls, ["free 0", "free 1", "free 99"]);
  assert.equal(answers[3].error, undefined);
});

test("a limit of 0 lets no request start, and another SETTINGS frame lifts it", async () => {
  const { session, peer, owner } = await openSession({}, { [Setting.maxConcurrentStreams]: 0 });
  assert.equal(session.free, 0);
  assert.throws(() => ask(session), /no room/);
  peer.settings({ [Setting.maxConcurrentStreams]: 1 });
  await turn();
  assert.deepEqual(owner.calls, ["free 1"]);
});

test("the owner is told of room once a turn, and what it starts then goes out in the same write", async () => {
  const { session, peer, owner } = await openSession({}, { [Setting.maxConcurrentStreams]: 3 });
  for (let i = 0; i < 3; i++) ask(session);
  await turn();
  const writes = peer.writes;
  owner.whenFree = () => {
    while (session.free > 0) ask(session);
  };
  peer.send(Buffer.concat([response(1, ""), response(3, ""), response(5, "")]));
  await turn();
  assert.deepEqual(owner.calls, ["free 3"]);
  assert.equal(peer.takeOf(FrameType.headers).length, 6);
  assert.equal(peer.writes, writes + 1);
});

test("every SETTINGS frame is acknowledged", async () => {
  const { peer } = await openSession();
  peer.settings({ 99: 1 });
  peer.settings({ [Setting.headerTableSize]: 0 });
  await turn();
  assert.deepEqual(peer.takeOf(FrameType.settings).map(({ flags, payload }) => [flags, payload.length]), [[1, 0], [
    1,
    0,
  ]]);
});

test("a server that wants no header table gets none", async () => {
  const { session, peer } = await openSession({}, { [Setting.headerTableSize]: 0 });
  for (let i = 0; i < 2; i++) ask(session, "/", { headers: ["x-name", "value"] });
  await turn();
  const [first, second] = peer.takeOf(FrameType.headers);
  assert.equal(peer.fields(first.payload).get("x-name"), "value");
  assert.equal(peer.fields(second.payload).get("x-name"), "value");
  assert.ok(second.payload.length > 10, "not an index");
});

test("a table size that a SETTINGS frame has before its last one empties the table, too", async () => {
  const { session, peer } = await openSession();
  const headers = ["x-name", "value"];
  ask(session, "/", { headers });
  await turn();
  const [known] = peer.takeOf(FrameType.headers);
  assert.equal(peer.fields(known.payload).get("x-name"), "value");
  const entry = (value: number) => settingsFrame({ [Setting.headerTableSize]: value }).subarray(9);
  peer.send(frame(FrameType.settings, 0, 0, Buffer.concat([entry(0), entry(4096)])));
  ask(session, "/", { headers });
  await turn();
  const [next] = peer.takeOf(FrameType.headers);
  assert.deepEqual([...next.payload.subarray(0, 4)], [0x20, 0x3f, 0xe1, 0x1f]); // 0, then 4096
  assert.equal(peer.fields(next.payload).get("x-name"), "value");
});

// Requests that are given up, by either side.

test("a request that is given up resets its stream, frees its slot at once, and hears nothing more", async () => {
  const { session, peer, owner } = await openSession({}, { [Setting.maxConcurrentStreams]: 1 });
  const body = new ScriptedBody();
  const answer = ask(session, "/", { method: "POST", body });
  await turn();
  const reason = new Error("enough");
  answer.exchange.cancel(reason);
  assert.equal(session.free, 1);
  assert.equal(body.cancelled, reason);
  answer.exchange.cancel(reason);
  peer.send(response(1, "late"));
  peer.reset(1, ErrorCode.cancel);
  await turn();
  assert.deepEqual(owner.calls, ["free 1"]);
  const resets = peer.takeOf(FrameType.reset);
  assert.deepEqual(resets.map(({ stream, payload }) => [stream, payload.readUInt32BE(0)]), [[1, ErrorCode.cancel]]);
  assert.deepEqual([answer.head, answer.error, answer.isEnded], [undefined, undefined, false]);
});

test("a request that has ended cannot be given up any more", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  peer.send(response(1, "x"));
  answer.exchange.cancel(new Error("late"));
  answer.exchange.consumed(1);
  await turn();
  assert.deepEqual(peer.takeOf(FrameType.reset), []);
});

test("a request that the server refuses was not touched", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.reset(1, ErrorCode.refusedStream);
  assert.equal(answer.error?.code, "REFUSED");
  assert.equal(answer.isUntouched, true);
  assert.equal(codeOfCause(answer), "REFUSED_STREAM");
  assert.equal(session.active, 0);
});

test("REFUSED_STREAM after the response's head is not believed", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "200"]]));
  peer.reset(1, ErrorCode.refusedStream);
  assert.deepEqual([answer.error?.code, answer.isUntouched], ["RESET", false]);
});

for (
  const [number, name] of [
    [ErrorCode.none, "NO_ERROR"],
    [ErrorCode.internal, "INTERNAL_ERROR"],
    [ErrorCode.cancel, "CANCEL"],
    [ErrorCode.enhanceYourCalm, "ENHANCE_YOUR_CALM"],
    [0xbeef, "0xbeef"],
  ] as const
) {
  test(`a request that the server resets with ${name} fails with RESET, and a cause of that code`, async () => {
    const { session, peer } = await openSession();
    const body = new ScriptedBody();
    const answer = ask(session, "/", { method: "POST", body });
    await turn();
    peer.reset(1, number);
    assert.deepEqual([answer.error?.code, answer.isUntouched], ["RESET", false]);
    assert.equal(codeOfCause(answer), name);
    assert.ok(answer.error?.message.includes(name));
    assert.ok(body.isCancelled);
  });
}

test("a request that the server resets with HTTP_1_1_REQUIRED is untouched, and may be sent in HTTP/1.1", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.reset(1, http11Required);
  assert.deepEqual([answer.error?.code, answer.isUntouched], ["REFUSED", true]);
  assert.equal(codeOfCause(answer), "HTTP_1_1_REQUIRED");
});

// GOAWAY.

test("GOAWAY fails what the server has not looked at as untouched, the rest goes on, then the session closes", async () => {
  const { session, peer, owner } = await openSession();
  const answers = [1, 2, 3].map(() => ask(session, "/", { method: "POST", body: new ScriptedBody().give(undefined) }));
  await turn();
  peer.goaway(3, ErrorCode.none);
  assert.deepEqual(answers.map(({ error }) => error?.code), [undefined, undefined, "REFUSED"]);
  assert.equal(answers[2].isUntouched, true);
  assert.deepEqual([session.free, session.closing, session.active], [0, true, 2]);
  await turn();
  assert.deepEqual(owner.calls, ["closing"]);
  peer.send(response(1, "one"));
  await turn();
  assert.equal(peer.isEnded, false);
  peer.send(response(3, "two"));
  assert.deepEqual(answers.map(({ text }) => text), ["one", "two", ""]);
  await until(() => peer.isEnded, "the end");
  assert.equal(peer.takeOf(FrameType.goaway).length, 1);
  peer.finish();
  await owner.closed;
  assert.deepEqual([owner.calls, owner.error], [["closing", "closed"], undefined]);
});

test("GOAWAY in two steps loses nothing", async () => {
  const { session, peer, owner } = await openSession();
  const answers = [1, 2].map(() => ask(session));
  await turn();
  peer.goaway(LAST_STREAM, ErrorCode.none);
  await turn();
  assert.deepEqual([session.closing, session.active], [true, 2]);
  peer.goaway(1, ErrorCode.none);
  assert.deepEqual(answers.map(({ isUntouched }) => isUntouched), [false, true]);
  peer.send(response(1, "x"));
  assert.equal(answers[0].isEnded, true);
  await turn();
  assert.deepEqual(owner.calls, ["closing"]);
});

test("GOAWAY with an error has its name in the cause", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  peer.goaway(0, ErrorCode.enhanceYourCalm);
  assert.equal(codeOfCause(answer), "ENHANCE_YOUR_CALM");
  assert.equal(answer.isUntouched, true);
});

test("an idle session closes at GOAWAY", async () => {
  const { peer, owner } = await openSession();
  peer.goaway(0, ErrorCode.none);
  await turn();
  assert.equal(peer.isEnded, true);
  peer.finish();
  await owner.closed;
  assert.equal(owner.error, undefined);
});

// The end of the session.

test("when the connection is lost, only what was not sent yet is untouched", async () => {
  const { session, peer, owner } = await openSession();
  const sent = ask(session);
  await turn();
  const unsent = ask(session, "/", { method: "POST", body: new WholeBody(Buffer.from("x")) });
  const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  peer.lose(cause);
  assert.deepEqual([sent.error?.code, sent.isUntouched], ["CONNECTION_LOST", false]);
  assert.equal(sent.error?.cause, cause);
  assert.deepEqual([unsent.error?.code, unsent.isUntouched], ["CONNECTION_LOST", true]);
  assert.deepEqual(owner.calls, ["closing", "closed"]);
  assert.equal(owner.error?.code, "CONNECTION_LOST");
  assert.deepEqual([session.free, session.closing], [0, true]);
});

test("when the server ends the connection without GOAWAY, requests under way fail with CONNECTION_LOST", async () => {
  const { session, peer, owner } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "200"]]), dataFrame(1, "half"));
  peer.finish();
  assert.deepEqual([answer.error?.code, answer.isUntouched, answer.text], ["CONNECTION_LOST", false, "half"]);
  await owner.closed;
  assert.equal(peer.isDestroyed, true);
});

test("an idle session whose server ends the connection is closed without an error", async () => {
  const { peer, owner } = await openSession();
  peer.finish();
  await owner.closed;
  assert.deepEqual([owner.calls, owner.error], [["closing", "closed"], undefined]);
});

test("close() lets requests end, then says GOAWAY and closes", async () => {
  const { session, peer, owner } = await openSession();
  const answer = ask(session);
  session.close();
  assert.deepEqual([session.closing, session.free], [true, 0]);
  assert.deepEqual(owner.calls, []);
  await turn();
  assert.deepEqual(owner.calls, ["closing"]);
  assert.equal(peer.isEnded, false);
  peer.send(response(1, "x"));
  assert.equal(answer.text, "x");
  await turn();
  const [goaway] = peer.takeOf(FrameType.goaway);
  assert.deepEqual([goaway.payload.readUInt32BE(0), goaway.payload.readUInt32BE(4)], [0, ErrorCode.none]);
  assert.equal(peer.isEnded, true);
  peer.finish();
  await owner.closed;
  assert.equal(owner.error, undefined);
});

test("close() does not wait for long for a server that never ends its side", async () => {
  const { session, peer, owner } = await openSession();
  session.close();
  await owner.closed;
  assert.equal(peer.isDestroyed, true);
});

test("destroy() fails what is under way with its error, and lets go of the socket", async () => {
  const { session, peer, owner } = await openSession();
  const body = new ScriptedBody();
  const answers = [ask(session), ask(session, "/", { method: "POST", body })];
  const error = new HttpError("CLIENT_CLOSED", "over");
  session.destroy(error);
  assert.deepEqual(answers.map((answer) => answer.error), [error, error]);
  assert.equal(body.cancelled, error);
  assert.equal(peer.isDestroyed, true);
  assert.deepEqual(owner.calls, []);
  await owner.closed;
  assert.deepEqual(owner.calls, ["closing", "closed"]);
});

test("destroy() in the middle of a chunk leaves the rest of it unread", async () => {
  const { session, peer, owner } = await openSession();
  const first = ask(session);
  const second = ask(session);
  await turn();
  first.whenHead = () => session.destroy(new HttpError("CLIENT_CLOSED", "over"));
  peer.send(Buffer.concat([response(1, "x"), response(3, "y")]));
  assert.deepEqual([first.error?.code, second.error?.code], ["CLIENT_CLOSED", "CLIENT_CLOSED"]);
  assert.equal(second.head, undefined);
  await owner.closed;
});

test("requests that one failure brings down may give each other up", async () => {
  const { session } = await openSession();
  const answers = [ask(session), ask(session)];
  const original = answers[0].onFail.bind(answers[0]);
  answers[0].onFail = (error, ...fate) => {
    original(error, ...fate);
    answers[1].exchange.cancel(error);
  };
  session.destroy(new HttpError("CLIENT_CLOSED", "over"));
  assert.equal(answers[0].error?.code, "CLIENT_CLOSED");
  assert.equal(answers[1].error, undefined);
});

test("a session takes no requests any more when its stream ids are used up, and ends those under way", async () => {
  const { session, peer, owner } = await openSession({ firstStream: LAST_STREAM - 2 });
  const answers = [ask(session), ask(session)];
  assert.deepEqual([session.closing, session.free], [true, 0]);
  await turn();
  assert.deepEqual(peer.takeOf(FrameType.headers).map(({ stream }) => stream), [LAST_STREAM - 2, LAST_STREAM]);
  assert.deepEqual(owner.calls, ["closing"]);
  peer.send(response(LAST_STREAM, "last"), response(LAST_STREAM - 2, "but one"));
  assert.deepEqual(answers.map(({ text }) => text), ["but one", "last"]);
  await turn();
  assert.equal(peer.isEnded, true);
});

test("nothing is told after the end of the connection", async () => {
  const { session, peer, owner } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(response(1, "x"));
  peer.settings({ [Setting.maxConcurrentStreams]: 5 });
  peer.lose(new Error("gone"));
  await turn();
  assert.equal(answer.text, "x");
  assert.deepEqual(owner.calls, ["closing", "closed"]);
});

// Whether it is needed, and alive.

test("a session keeps the process alive only while requests are under way", async () => {
  const { session, peer } = await openSession();
  assert.equal(peer.isHeld, false);
  ask(session);
  assert.equal(peer.isHeld, true);
  await turn();
  peer.send(response(1, ""));
  await turn();
  assert.equal(peer.isHeld, false);
});

test("a request of a session whose connection has ended was not touched, be the session idle or busy, even if no poll has shown the end", async () => {
  const ends: ((peer: MemoryPeer) => void)[] = [
    (peer) => peer.finish(),
    (peer) => peer.lose(new Error("reset")),
    (peer) => peer.goaway(1, ErrorCode.none),
    (peer) => peer.goaway(LAST_STREAM, ErrorCode.none),
  ];
  for (const [end, isBusy] of ends.flatMap((end) => [[end, false], [end, true]] as const)) {
    const { session, peer } = await openSession();
    const first = ask(session);
    await turn();
    if (!isBusy) {
      peer.send(response(1, "done"));
      await first.over;
    }
    await turn();
    peer.take();
    const answer = ask(session, "/", { method: "POST", body: new WholeBody(Buffer.from("grist")) });
    await Promise.resolve();
    assert.deepEqual(peer.take(), []);
    end(peer);
    await answer.over;
    assert.ok(answer.isUntouched && answer.isUnsent);
    await turn();
    assert.deepEqual(peer.takeOf(FrameType.headers), []); // no stream is opened behind a GOAWAY (RFC 9113 section 6.8)
  }
});

test("a session without requests closes after idleTimeout, with GOAWAY", async () => {
  const { session, peer, owner } = await openSession({ idleTimeout: 400 }); // a busy machine may take 100 ms up to the request
  const keepsAlive = setTimeout(() => {}, 10_000);
  const answer = ask(session);
  await pause(600);
  assert.equal(session.closing, false);
  peer.send(response(1, "x"));
  assert.ok(answer.isEnded);
  await until(() => session.closing, "the session's end");
  assert.equal(peer.takeOf(FrameType.goaway).length, 1);
  peer.finish();
  await owner.closed;
  clearTimeout(keepsAlive);
});

test("with requests under way, silence brings about a PING, and an answer is enough", async () => {
  const { session, peer } = await openSession({ pingInterval: 30, pingTimeout: 60_000 });
  ask(session);
  await turn();
  peer.take();
  for (let i = 0; i < 3; i++) {
    const pings = [];
    while (pings.length === 0) {
      await pause(5);
      pings.push(...peer.takeOf(FrameType.ping));
    }
    assert.equal(pings.length, 1);
    peer.send(pingAnswer(pings[0].payload));
  }
  assert.equal(session.closing, false);
  session.destroy(new HttpError("CLIENT_CLOSED", "over"));
});

test("a session without requests sends no PING", async () => {
  const { peer } = await openSession({ pingInterval: 10 });
  await pause(60);
  assert.deepEqual(peer.take(), []);
});

test("a request on a session that was silent for pingInterval goes out with a PING", async () => {
  const { session, peer } = await openSession({ pingInterval: 20 });
  await pause(40);
  ask(session);
  await turn();
  assert.deepEqual(peer.take().map(({ type }) => type).sort(), [FrameType.headers, FrameType.ping]);
  session.destroy(new HttpError("CLIENT_CLOSED", "over"));
});

test("a server that answers no PING is given up: CONNECTION_STALE for all requests", async () => {
  const { session, peer, owner } = await openSession({ pingInterval: 20, pingTimeout: 20 });
  peer.isMute = true;
  const keepsAlive = setInterval(() => {}, 1000);
  const answers = [ask(session), ask(session)];
  await owner.closed;
  clearInterval(keepsAlive);
  assert.deepEqual(answers.map(({ error }) => error?.code), ["CONNECTION_STALE", "CONNECTION_STALE"]);
  assert.deepEqual(answers.map(({ isUntouched }) => isUntouched), [false, false]);
  assert.equal(owner.error?.code, "CONNECTION_STALE");
  assert.deepEqual(owner.calls, ["closing", "closed"]);
  assert.equal(peer.isDestroyed, true);
  assert.equal(session.free, 0);
});

test("a process that was held up itself does not take that for a server's silence", async () => {
  const { session, peer } = await openSession({ pingInterval: 20, pingTimeout: 20 });
  peer.isMute = true;
  const answer = ask(session);
  while (peer.takeOf(FrameType.ping).length === 0) await pause(1);
  for (const start = performance.now(); performance.now() - start < 1200;); // the answer comes meanwhile, and is not read
  await pause(5);
  peer.send(response(1, "there"));
  assert.deepEqual([answer.text, session.closing], ["there", false]);
});

test("a closed session ends once the server has answered a PING behind the last byte of all bodies", async () => {
  const seed = chosenSeed();
  const random = new SeededRandom(seed);
  for (let run = 0; run < 60; run++) {
    const what = `seed ${seed}, run ${run}`;
    const { session, peer, owner } = await openSession();
    peer.isMute = true;
    const unanswered: number[] = [];
    const unsent: ScriptedBody[] = [];
    let pings: Buffer[] = [];
    let isRead = true;
    let next = 1;
    for (let step = 0; !peer.isEnded; step++) {
      assert.ok(step < 1000, `${what}: it does not end`);
      if (step === 30) session.close();
      const act = random.below(4);
      if (act === 0 && step < 30) {
        const body = random.pick([undefined, new ScriptedBody()]);
        unanswered.push(next);
        next += 2;
        if (body !== undefined) unsent.push(body.give(Buffer.from("some")));
        ask(session, "/", { method: "POST", body });
      } else if (act === 1 && unanswered.length > 0) {
        peer.send(response(unanswered.splice(random.below(unanswered.length), 1)[0], "early"));
      } else if (act === 2 && unsent.length > 0) {
        unsent.splice(random.below(unsent.length), 1)[0].give(Buffer.from("more"), undefined);
      } else if (act === 3 && pings.length > 0) {
        isRead = true;
        peer.send(pingAnswer(pings.shift()!));
      }
      if (act === 0 || random.chance(0.8)) await turn();
      for (const { type, payload } of peer.take()) {
        if (type === FrameType.ping) pings.push(payload);
        if (type === FrameType.goaway) assert.ok(isRead, `${what}: it ended before its bodies were read`);
        if (type !== FrameType.data) continue;
        isRead = false;
        pings = [];
      }
    }
    peer.finish();
    await owner.closed;
    assert.equal(owner.error, undefined, what);
  }
});

test("however many bodies a session sends, the server gets few PINGs behind them", async () => {
  const { session, peer, owner } = await openSession();
  const random = new SeededRandom(chosenSeed());
  const start = performance.now();
  let count = 0;
  for (let sent = 0; sent < 300; sent++) {
    ask(session, "/", { method: "POST", body: new WholeBody(Buffer.from("body")) });
    await turn();
    peer.send(response(2 * sent + 1, "read"));
    for (let turns = random.below(4); turns > 0; turns--) await turn();
    count += peer.takeOf(FrameType.ping).length;
  }
  const most = 1 + (performance.now() - start) / 1000;
  assert.ok(count <= most, `${count} PINGs`);
  session.close();
  await until(() => peer.isEnded, "the end");
  assert.deepEqual(peer.take().map(({ type }) => type), [FrameType.ping, FrameType.goaway]);
  peer.finish();
  await owner.closed;
  assert.equal(owner.error, undefined);
});

test("a server that answers no PING behind a body is waited for up to pingTimeout: CONNECTION_STALE", async () => {
  const { session, peer, owner } = await openSession({ pingTimeout: 20 });
  peer.isMute = true;
  ask(session, "/", { method: "POST", body: new WholeBody(Buffer.from("body")) });
  await turn();
  peer.send(response(1, "early"));
  session.close();
  await until(() => peer.isEnded, "the end");
  assert.equal(peer.takeOf(FrameType.goaway).length, 1);
  peer.finish();
  await owner.closed;
  assert.equal(owner.error?.code, "CONNECTION_STALE");
});

test("a body that was sent behind its response counts as unread once its server has answered no PING for pingTimeout", async () => {
  const { session, peer, owner } = await openSession({ pingTimeout: 20 });
  peer.isMute = true;
  const body = new ScriptedBody().give(Buffer.from("some"));
  const answer = ask(session, "/", { method: "POST", body });
  await turn();
  peer.send(response(1, "early"));
  await turn();
  body.give(undefined);
  await until(() => answer.unread !== undefined, "the end of the wait");
  assert.deepEqual([answer.unread?.code, session.closing], ["CONNECTION_STALE", false]);
  session.close();
  await until(() => peer.isEnded, "the end");
  peer.finish();
  await owner.closed;
  assert.equal(owner.error?.code, "CONNECTION_STALE");
});

test("while other requests are under way, too, a PING shows which late bodies the server has read", async () => {
  for (const answers of ["none", "the PING", "mute"]) {
    const { session, peer, owner } = await openSession({ pingTimeout: answers === "mute" ? 20 : 60_000 });
    peer.isMute = true;
    ask(session, "/poll"); // has no answer, ever
    const late = async (stream: number): Promise<Answer> => {
      const body = new ScriptedBody().give(Buffer.from("some"));
      const answer = ask(session, "/", { method: "POST", body });
      await turn();
      peer.send(response(stream, "early"));
      await turn();
      body.give(undefined);
      await turn();
      return answer;
    };
    const first = await late(3);
    let pings: Buffer[] = [];
    await until(() => (pings = peer.takeOf(FrameType.ping).map(({ payload }) => payload)).length > 0, "the PING");
    if (answers === "mute") {
      await until(() => first.unread !== undefined, "the end of the wait");
      assert.deepEqual([first.unread?.code, session.closing], ["CONNECTION_STALE", false]);
    }
    const second = await late(5);
    if (answers === "the PING") peer.send(pingAnswer(pings[0]));
    await turn();
    peer.lose(new Error("cut"));
    await owner.closed;
    const lost = answers === "none" ? "CONNECTION_LOST" : answers === "mute" ? "CONNECTION_STALE" : undefined;
    assert.deepEqual([first.unread?.code, second.unread?.code], [lost, "CONNECTION_LOST"], answers);
  }
});

test("a body that was written before its answer came is not late, though the socket says up to a turn later that it has gone", async () => {
  for (const isLate of [false, true]) {
    const { session, peer, owner } = await openSession();
    const body = new ScriptedBody().give(Buffer.from("some"));
    const answer = ask(session, "/", { method: "POST", body });
    await turn();
    peer.waiting = 4;
    body.give(undefined);
    await turn();
    peer.send(response(1, "read"));
    if (isLate) await new Promise<void>((resolve) => afterPoll(resolve));
    peer.waiting = 0;
    peer.drain();
    peer.finish();
    await owner.closed;
    assert.equal(owner.error?.code, isLate ? "CONNECTION_LOST" : undefined);
    assert.equal(answer.unread?.code, isLate ? "CONNECTION_LOST" : undefined);
  }
});

test("the end of a connection is CONNECTION_LOST until the server has read what was sent behind its answer", async () => {
  for (const [isLate, end] of [true, false].flatMap((isLate) => [0, 1, 2].map((end) => [isLate, end] as const))) {
    const { session, peer, owner } = await openSession();
    peer.isMute = true;
    const body = new ScriptedBody().give(Buffer.from("some"));
    const answer = ask(session, "/", { method: "POST", body });
    await turn();
    if (!isLate) body.give(undefined);
    await turn();
    peer.send(response(1, "early"));
    await turn();
    if (isLate) body.give(undefined);
    let pings: Buffer[] = [];
    const takePings = (): boolean => (pings = peer.takeOf(FrameType.ping).map(({ payload }) => payload)).length > 0;
    if (end > 0) await until(takePings, "the PING");
    if (end > 1) peer.send(pingAnswer(pings[0]));
    peer.finish();
    await owner.closed;
    assert.equal(owner.error?.code, end === 1 || (end === 0 && isLate) ? "CONNECTION_LOST" : undefined);
    assert.equal(answer.unread ?? answer.error, isLate ? owner.error : undefined);
  }
});

test("a server is waited for while it reads bodies, and given up once it has read nothing for pingTimeout, whatever it says", async () => {
  const update = (bytes: number): Buffer => numberFrame(FrameType.windowUpdate, 0, bytes);
  // What it says every 60 ms, and for how many times it is waited for. It has two windows, and so eight bytes to give back.
  const cases: readonly (readonly [string, Buffer, number])[] = [
    ["reads, and answers", update(1), 5],
    ["reads", update(1), 9],
    ["sends PINGs", ping("12345678"), 2],
    ["sends SETTINGS", settingsFrame({}), 2],
    ["sends frames of an unknown type", frame(99, 0, 0, Buffer.from("some")), 2],
    ["gives back more than was sent", update(1000), 2],
  ];
  for (const [what, said, most] of cases) {
    using clock = new FakeClock();
    const { session, peer, owner } = await openSession({ pingTimeout: 100, pingInterval: 0 });
    peer.isMute = true;
    ask(session, "/", { method: "POST", body: new WholeBody(Buffer.from("body")) });
    await turn();
    peer.send(response(1, "early"));
    session.close();
    let pings: Buffer[] = [];
    await until(() => (pings = peer.takeOf(FrameType.ping).map(({ payload }) => payload)).length > 0, "the PING");
    const answers = what.endsWith("answers");
    let times = 0;
    for (; !peer.isEnded && times < 20; times++) {
      if (answers && times === most) peer.send(pingAnswer(pings[0]));
      else peer.send(said);
      clock.turn(60);
      for (let turns = 0; turns < 100; turns++) await turn();
    }
    assert.equal(times, answers ? most + 1 : most, what);
    peer.finish();
    await owner.closed;
    assert.equal(owner.error?.code, answers ? undefined : "CONNECTION_STALE", what);
  }
});

/** Opens a session whose server grants the largest windows. */
async function openWide(options: Partial<Http2Options>): ReturnType<typeof openSession> {
  const opened = await openSession({ pingInterval: 1000, pingTimeout: 100, ...options }, {
    [Setting.initialWindowSize]: 2 ** 31 - 1,
  });
  opened.peer.widen(0, 2 ** 31 - 1 - WINDOW);
  opened.peer.isMute = true;
  return opened;
}

/** Moves the clock until a condition holds, and returns the ms that this took. */
async function passed(clock: FakeClock, isOver: () => boolean): Promise<number> {
  const start = clock.now;
  for (let turns = 0; !isOver() && turns < 200; turns++) {
    clock.turn(20);
    for (let times = 0; times < 3; times++) await turn();
  }
  return clock.now - start;
}

test("a PING is waited for longer behind bodies that the server has not shown to have read, since windows may let it read them in silence", async () => {
  const body = (): WholeBody => new WholeBody(Buffer.alloc(10 * WINDOW));
  type Case = readonly [string, Partial<Http2Options>, (peer: MemoryPeer) => unknown, number];
  const cases: readonly Case[] = [
    ["shows nothing", {}, () => {}, 1000],
    ["shows nothing, and headers may take for ever", { headersTimeout: 0 }, () => {}, 1000],
    ["shows nothing, and headers may take less", { headersTimeout: 400 }, () => {}, 400],
    ["shows nothing, and headers may take less than an answer", { headersTimeout: 50 }, () => {}, 100],
    ["answers a request before the body", {}, (peer) => peer.send(response(1, "")), 1000],
    ["answers a request behind the body", {}, (peer) => peer.send(response(5, "")), 100],
    ["gives room back", {}, (peer) => peer.widen(0, 10 * WINDOW), 100],
    ["gives some room back", {}, (peer) => peer.widen(0, 8 * WINDOW), 200],
    ["answers a PING before", {}, (peer) => peer.isMute = false, 100],
    ["sends PINGs", {}, (peer) => peer.send(ping("12345678")), 1000],
  ];
  for (const [what, options, show, ms] of cases) {
    using clock = new FakeClock();
    const { session, peer, owner } = await openWide(options);
    for (const one of [undefined, body(), undefined, undefined]) {
      ask(session, "/", { method: "POST", body: one });
      await turn();
    }
    show(peer);
    await turn();
    peer.take();
    if (!peer.isMute) await passed(clock, () => peer.takeOf(FrameType.ping).length > 0);
    peer.isMute = true;
    await passed(clock, () => peer.takeOf(FrameType.ping).length > 0);
    assert.equal(await passed(clock, () => session.closing), ms, what);
    await owner.closed;
    assert.equal(owner.error?.code, "CONNECTION_STALE", what);
  }
});

test("the PING behind a late body is waited for longer behind more of it, too", async () => {
  using clock = new FakeClock();
  const { session, peer, owner } = await openWide({ pingInterval: 0 });
  const body = new ScriptedBody().give(Buffer.from("some"));
  const answer = ask(session, "/", { method: "POST", body });
  await turn();
  peer.send(response(1, "early"));
  body.give(Buffer.alloc(10 * WINDOW - 4), undefined);
  await turn();
  session.close();
  await passed(clock, () => peer.takeOf(FrameType.ping).length > 0);
  assert.equal(await passed(clock, () => peer.isEnded), 1000);
  peer.finish();
  await owner.closed;
  assert.equal(answer.unread?.code, "CONNECTION_STALE");
});

test("the rest of a body is sent as slowly as it goes, though the server has answered and ended its side", async () => {
  using clock = new FakeClock();
  const { session, peer, owner } = await openSession();
  const body = new ScriptedBody().give(Buffer.from("some"));
  const answer = ask(session, "/", { method: "POST", body });
  await turn();
  peer.send(response(1, "early"));
  peer.waiting = 4;
  body.give(undefined);
  await turn();
  peer.finish();
  await passed(clock, () => peer.isDestroyed);
  assert.deepEqual([peer.isDestroyed, answer.isSentLate], [false, false]);
  peer.drain();
  assert.deepEqual([answer.isSentLate, answer.error], [true, undefined]);
  peer.destroy();
  await owner.closed;
});

test("PINGs of the server are answered with their bytes", async () => {
  const { peer } = await openSession();
  peer.send(ping("12345678"), ping("abcdefgh"));
  await turn();
  const answers = peer.takeOf(FrameType.ping);
  assert.deepEqual(answers.map(({ flags, payload }) => [flags, payload.toString()]), [[1, "12345678"], [
    1,
    "abcdefgh",
  ]]);
});

function ping(bytes: string): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 8, FrameType.ping, 0, 0, 0, 0, 0]), Buffer.from(bytes)]);
}

function pingAnswer(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 8, FrameType.ping, 1, 0, 0, 0, 0]), bytes]);
}
