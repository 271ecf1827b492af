import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { HttpError } from "../../../lib/http/http_error.ts";
import { StreamBody } from "../../../lib/http/request/stream_body.ts";
import { ErrorCode, Flag, type Frame, FrameType, Setting } from "../faults/http2_frames.ts";
import { dataFrame, headFrame, response } from "./memory_peer.ts";
import { ask, openSession, turn } from "./opened_session.ts";
import { until } from "../../support/waits.ts";
import { ScriptedBody, WholeBody } from "./scripted_body.ts";

const WINDOW = 65_535;
const post = { method: "POST" };

/** Stream and length of each DATA frame, with a mark at those that end a stream. */
function shown(frames: readonly Frame[]): string[] {
  return frames.filter(({ type }) => type === FrameType.data)
    .map(({ stream, payload, flags }) => `${stream}:${payload.length}${flags & Flag.endStream ? "!" : ""}`);
}

function bytesOf(frames: readonly Frame[], stream: number): Buffer {
  return Buffer.concat(frames.filter((f) => f.type === FrameType.data && f.stream === stream).map((f) => f.payload));
}

test("a body in memory goes out with its HEADERS, in one write, and ends the stream with its last byte", async () => {
  const { session, peer } = await openSession();
  const writes = peer.writes;
  ask(session, "/", { ...post, body: new WholeBody(Buffer.from("hello")) });
  await turn();
  const frames = peer.take();
  assert.equal(peer.writes, writes + 1);
  assert.equal(peer.fields(frames[0].payload).get("content-length"), "5");
  assert.equal(frames[0].flags, Flag.endHeaders);
  assert.deepEqual(shown(frames), ["1:5!"]);
});

test("an empty body is none: HEADERS end the stream", async () => {
  const { session, peer } = await openSession();
  ask(session, "/", { ...post, body: new WholeBody(new Uint8Array(0)) });
  await turn();
  const [headers, ...others] = peer.take();
  assert.equal(headers.flags, Flag.endHeaders | Flag.endStream);
  assert.equal(peer.fields(headers.payload).get("content-length"), "0");
  assert.deepEqual(others, []);
});

test("a body that is read ends with an empty frame once its source has ended, whatever its length", async () => {
  const { session, peer } = await openSession();
  ask(session, "/", { ...post, body: new ScriptedBody(6).give(Buffer.from("abc"), Buffer.from("def"), undefined) });
  ask(session, "/", { ...post, body: new ScriptedBody().give(Buffer.from("abc"), Buffer.from("def"), undefined) });
  await turn();
  const frames = peer.take();
  assert.deepEqual(shown(frames.filter(({ stream }) => stream === 1)), ["1:3", "1:3", "1:0!"]);
  assert.deepEqual(shown(frames.filter(({ stream }) => stream === 3)), ["3:3", "3:3", "3:0!"]);
  const [first, second] = frames.filter(({ type }) => type === FrameType.headers);
  assert.equal(peer.fields(first.payload).get("content-length"), "6");
  assert.equal(peer.fields(second.payload).has("content-length"), false);
});

test("a body is sent as far as the stream's window allows, and goes on as it widens", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 10 });
  const bytes = Buffer.from("0123456789abcdefghijklmnop");
  ask(session, "/", { ...post, body: new WholeBody(bytes) });
  await turn();
  const frames = peer.take();
  assert.deepEqual(shown(frames), ["1:10"]);
  peer.widen(1, 1);
  await turn();
  peer.widen(1, 100);
  await turn();
  frames.push(...peer.take());
  assert.deepEqual(shown(frames), ["1:10", "1:1", "1:15!"]);
  assert.equal(bytesOf(frames, 1).toString(), bytes.toString());
});

test("a body is not asked for more while the stream's window is closed", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 10 });
  const body = new ScriptedBody().give(Buffer.alloc(11));
  ask(session, "/", { ...post, body });
  await turn();
  assert.equal(body.reads, 1);
  body.give(Buffer.alloc(5));
  await turn();
  assert.equal(body.reads, 1);
  peer.widen(1, 2);
  await turn();
  assert.equal(body.reads, 2);
});

test("a body is read up to its first piece while a window is closed, so that an empty one can end", async () => {
  for (const initialWindowSize of [0, 1_000_000]) { // the stream's window, then the connection's
    const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: initialWindowSize });
    if (initialWindowSize > 0) ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(WINDOW)) });
    await turn();
    peer.take();
    const body = new ScriptedBody().give(Buffer.alloc(5), Buffer.alloc(6));
    const late = new ScriptedBody();
    for (const one of [body, new ScriptedBody().give(undefined), late]) ask(session, "/", { ...post, body: one });
    await turn();
    assert.deepEqual([body.reads, late.reads], [1, 1]);
    const frames = peer.take();
    const [stream, empty, last] = frames.filter(({ type }) => type === FrameType.headers).map(({ stream }) => stream);
    assert.deepEqual(shown(frames), [`${empty}:0!`]);
    late.give(undefined);
    await turn();
    assert.deepEqual(shown(peer.take()), [`${last}:0!`]);
    peer.widen(initialWindowSize === 0 ? stream : 0, 11);
    await turn();
    assert.deepEqual(shown(peer.take()), [`${stream}:5`, `${stream}:6`]);
  }
});

test("however many bodies start at once, few first pieces are held, and silent sources keep no other body waiting", async () => {
  for (const initialWindowSize of [0, 1_000_000]) {
    const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: initialWindowSize });
    const silent = Array.from({ length: 100 }, () => new ScriptedBody());
    for (const body of silent) ask(session, "/", { ...post, body });
    ask(session, "/", { ...post, body: new ScriptedBody().give(undefined) });
    const given = Array.from({ length: 100 }, () => new ScriptedBody().give(Buffer.alloc(WINDOW), undefined));
    for (const body of given) ask(session, "/", { ...post, body });
    const ended = (): number => peer.takeOf(FrameType.data).filter(({ flags }) => flags & Flag.endStream).length;
    for (let i = 0; i < 20; i++) await turn();
    assert.equal(ended(), 1);
    assert.ok(silent.every(({ reads }) => reads > 0));
    const read = given.filter(({ reads }) => reads > 0).length;
    assert.ok(read <= 20, `${read} pieces`); // four of them have used up the connection's window
    for (const body of silent) body.give(Buffer.alloc(1), undefined);
    for (let stream = 1; stream <= 401; stream += 2) peer.widen(stream, WINDOW);
    peer.widen(0, WINDOW * 101);
    for (let i = 0; i < 20; i++) await turn();
    assert.equal(ended(), 200);
  }
});

test("few of the bodies without a window are read, and the others once they have one, or fewer are left", async () => {
  for (const initialWindowSize of [0, 1_000_000]) { // the streams' windows, then the connection's
    const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: initialWindowSize });
    if (initialWindowSize > 0) ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(WINDOW)) });
    await turn();
    const bodies = Array.from({ length: 100 }, () => new ScriptedBody().give(Buffer.alloc(5)));
    const answers = bodies.map((body) => ask(session, "/", { ...post, body }));
    await turn();
    const read = (): number => bodies.filter(({ reads }) => reads > 0).length;
    const most = read();
    assert.ok(most < 20, `${most} pieces`);
    answers[0].exchange.cancel("enough");
    await turn();
    assert.equal(read(), most + 1);
    peer.take();
    for (let stream = 1; stream < 200; stream += 2) peer.widen(initialWindowSize === 0 ? stream : 0, 5);
    await turn();
    assert.deepEqual([read(), shown(peer.take()).length], [100, 99]);
  }
});

test("a body is not asked for anything while the transport is full, and goes on when it has drained", async () => {
  const { session, peer } = await openSession();
  peer.full = true;
  const body = new ScriptedBody(5).give(Buffer.alloc(5), undefined);
  ask(session, "/", { ...post, body });
  await turn();
  assert.equal(body.reads, 0);
  peer.drain();
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:5", "1:0!"]);
});

test("the end of a body is told though the window is closed", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 10 });
  ask(session, "/", { ...post, body: new ScriptedBody().give(Buffer.alloc(10), undefined) });
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:10", "1:0!"]);
});

test("the ends of all bodies that are sent are told though one has used up the connection's window", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 1_000_000 });
  for (let left = WINDOW, size = 5000; left > 0; left -= size) {
    size = Math.min(size, left);
    ask(session, "/", { ...post, body: new ScriptedBody().give(Buffer.alloc(size), undefined) });
  }
  ask(session, "/", { ...post, body: new ScriptedBody().give(Buffer.alloc(1), undefined) });
  await turn();
  const frames = peer.take().filter(({ type }) => type === FrameType.data);
  assert.equal(frames.reduce((sum, { payload }) => sum + payload.length, 0), WINDOW);
  assert.equal(frames.filter(({ flags }) => flags & Flag.endStream).length, 14);
});

test("bodies share the connection's window frame by frame", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 1_000_000 });
  for (let i = 0; i < 3; i++) ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(200_000, i)) });
  await turn();
  const frames = shown(peer.take());
  assert.deepEqual(frames, ["1:16384", "3:16384", "5:16384", "1:16383"]);
  peer.widen(0, 16_384 * 6);
  await turn();
  const next = shown(peer.take()).map((frame) => frame[0]).join("");
  assert.equal(next, "351351");
});

test("a body that gets room again and again does not starve the others", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 1000 });
  for (let i = 0; i < 2; i++) ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(500_000, i)) });
  ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(3000)) });
  await turn();
  for (let i = 0; i < 3; i++) {
    for (const stream of [1, 3, 5]) peer.widen(stream, 1000);
    await turn();
  }
  assert.ok(shown(peer.take()).includes("5:1000!"));
});

test("frames are as large as the server allows, and as we find fair", async () => {
  const { session, peer } = await openSession({}, { [Setting.maxFrameSize]: 1_000_000 });
  ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(60_000)) });
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:32768", "1:27232!"]);
});

test("the bytes of a body arrive as they were, whatever the windows", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 0 });
  const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, i) => i * 7 + (i >> 8)));
  const pieces = [
    bytes.subarray(0, 1),
    bytes.subarray(1, 100_000),
    bytes.subarray(100_000, 100_001),
    bytes.subarray(100_001),
  ];
  ask(session, "/", { ...post, body: new WholeBody(bytes) });
  ask(session, "/", { ...post, body: new ScriptedBody(bytes.length).give(...pieces, undefined) });
  await turn();
  const frames: Frame[] = [];
  for (let room = 1, sent = 0; sent < 600_000; room = (room * 31) % 20_011) {
    for (const stream of [0, 1, 3]) peer.widen(stream, room);
    await turn();
    const now = peer.takeOf(FrameType.data);
    sent += now.reduce((sum, { payload }) => sum + payload.length, 0);
    frames.push(...now);
  }
  assert.ok(bytesOf(frames, 1).equals(bytes));
  assert.ok(bytesOf(frames, 3).equals(bytes));
  assert.equal(frames.filter(({ flags }) => flags & Flag.endStream).length, 2);
});

test("SETTINGS change the windows of streams under way, even to less than nothing", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 100 });
  ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(300)) });
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:100"]);
  peer.settings({ [Setting.initialWindowSize]: 20 }); // now -80
  peer.widen(1, 80);
  await turn();
  assert.deepEqual(shown(peer.take()), []);
  peer.widen(1, 5);
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:5"]);
  peer.settings({ [Setting.initialWindowSize]: 400 });
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:195!"]);
});

test("a body that breaks resets the stream and fails the request", async () => {
  const { session, peer } = await openSession();
  const gone = new HttpError("BODY_FAILED", "disk gone");
  const broken = ask(session, "/", { ...post, body: new ScriptedBody().give(Buffer.from("a"), gone) });
  const own = new HttpError("BODY_FAILED", "as it came");
  const other = ask(session, "/", { ...post, body: new ScriptedBody().give(own) });
  await turn();
  assert.equal(broken.error, gone);
  assert.equal(other.error, own);
  const resets = peer.takeOf(FrameType.reset);
  assert.deepEqual(resets.map(({ stream }) => stream).sort(), [1, 3]);
  assert.equal(resets[0].payload.readUInt32BE(0), ErrorCode.cancel);
  assert.equal(session.active, 0);
});

for (const [words, pieces] of Object.entries({ longer: ["ab", "cd"], shorter: ["ab"] })) {
  test(`a body that is ${words} than it said fails the request instead of reaching the server so`, async () => {
    const { session, peer } = await openSession();
    const answer = ask(session, "/", { ...post, body: new StreamBody(pieces, 3) });
    await until(() => answer.error !== undefined, "the error");
    assert.equal(answer.error?.code, "BODY_FAILED");
    assert.equal(peer.take().filter(({ flags, type }) => type === FrameType.data && flags & Flag.endStream).length, 0);
  });
}

test("a response that is no 2xx may end before the request's body, which is then cut, and its slot is free", async () => {
  const { session, peer, owner } = await openSession({ maxConcurrentStreams: 1 });
  const body = new ScriptedBody();
  const answer = ask(session, "/", { ...post, body });
  await turn();
  peer.take();
  peer.send(response(1, "no need", "403"));
  assert.deepEqual([answer.text, answer.isEnded, answer.isSentLate], ["no need", true, false]);
  assert.ok(body.isCancelled);
  await turn();
  const [reset] = peer.takeOf(FrameType.reset);
  assert.deepEqual([reset.stream, reset.payload.readUInt32BE(0)], [1, ErrorCode.cancel]);
  assert.deepEqual(owner.calls, ["free 1"]);
  peer.reset(1, ErrorCode.none); // the server's own comes late
  body.give(Buffer.from("late"));
  await turn();
  assert.deepEqual(shown(peer.take()), []);
  assert.equal(session.closing, false);
});

test("the request's body goes on after a whole 2xx, until the system has taken it, or the server wants no more", async () => {
  const { session, peer, owner } = await openSession({ maxConcurrentStreams: 2 });
  const bodies = [new ScriptedBody(), new ScriptedBody()];
  const answers = bodies.map((body) => ask(session, "/", { ...post, body }));
  await turn();
  for (const id of [1, 3]) peer.send(response(id, "fine"));
  peer.take();
  peer.waiting = 1;
  bodies[0].give(Buffer.from("more"), undefined);
  peer.reset(3, ErrorCode.none);
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:4", "1:0!"]);
  assert.deepEqual(answers.map(({ isEnded, isSentLate }) => [isEnded, isSentLate]), [[true, false], [true, true]]);
  assert.equal(answers[1].error, undefined);
  assert.ok(bodies[1].isCancelled);
  session.close();
  await turn();
  assert.equal(peer.isEnded, false);
  peer.drain();
  await until(() => peer.isEnded, "the end");
  assert.ok(answers[0].isSentLate);
  assert.equal(session.active, 0);
  assert.ok(owner.calls.length > 0);
});

test("nothing may follow a response that has ended while the request's body goes on", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session, "/", { ...post, body: new ScriptedBody() });
  await turn();
  peer.send(response(1, "fine"));
  peer.send(dataFrame(1, "more"));
  assert.equal(answer.text, "fine");
  assert.equal(session.closing, true);
});

test("request and response bodies go on at the same time", async () => {
  const { session, peer } = await openSession();
  const body = new ScriptedBody();
  const answer = ask(session, "/", { ...post, body });
  await turn();
  peer.send(headFrame(1, [[":status", "200"]]));
  for (const word of ["a", "b", "c"]) {
    body.give(Buffer.from(word));
    await turn();
    const [data] = peer.takeOf(FrameType.data);
    peer.send(dataFrame(1, data.payload));
  }
  assert.equal(answer.text, "abc");
  body.give(undefined);
  await turn();
  assert.deepEqual(shown(peer.take()), ["1:0!"]);
  peer.send(dataFrame(1, "", true));
  assert.ok(answer.isEnded);
});

test("a piece that comes after the request was given up is dropped", async () => {
  const { session, peer } = await openSession();
  const body = new ScriptedBody();
  const answer = ask(session, "/", { ...post, body });
  await turn();
  const reason = new Error("enough");
  answer.exchange.cancel(reason);
  assert.equal(body.cancelled, reason);
  body.give(Buffer.from("late"));
  await turn();
  assert.deepEqual(shown(peer.take()), []);
});

test("a request that waits for the connection's window can be given up, and the others go on", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 1_000_000 });
  ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(WINDOW)) });
  await turn();
  const answers = [3, 5, 7].map(() => ask(session, "/", { ...post, body: new WholeBody(Buffer.alloc(10)) }));
  await turn();
  answers[1].exchange.cancel(new Error("enough"));
  peer.take();
  peer.widen(0, 1000);
  await turn();
  assert.deepEqual(shown(peer.take()), ["3:10!", "7:10!"]);
});

test("many bodies at a time, of many pieces each, all come to their end", async () => {
  const { session, peer } = await openSession({}, { [Setting.initialWindowSize]: 5000 });
  for (let i = 0; i < 300; i++) {
    const pieces = Array.from({ length: 4 }, () => Buffer.alloc(100));
    ask(session, "/", { ...post, body: new ScriptedBody(i % 2 === 0 ? 400 : undefined).give(...pieces, undefined) });
  }
  const frames: Frame[] = [];
  for (let i = 0; i < 10; i++) {
    await turn();
    frames.push(...peer.take());
    peer.widen(0, 20_000);
  }
  assert.equal(frames.filter(({ type, flags }) => type === FrameType.data && flags & Flag.endStream).length, 300);
  assert.equal(
    frames.reduce((sum, { type, payload }) => sum + (type === FrameType.data ? payload.length : 0), 0),
    120_000,
  );
});
