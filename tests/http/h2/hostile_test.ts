import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import type { Connection } from "../../../lib/http/connection.ts";
import type { HttpErrorCode } from "../../../lib/http/http_error.ts";
import {
  ErrorCode,
  Flag,
  frame,
  FrameType,
  goawayFrame,
  headerBlock,
  numberFrame,
  settingsFrame,
} from "../faults/http2_frames.ts";
import { dataFrame, headFrame, MemoryPeer, response } from "./memory_peer.ts";
import { type Answer, ask, openOn, openSession, turn } from "./opened_session.ts";
import { WholeBody } from "./scripted_body.ts";

const streamClosed = 5;
const frameSize = 6;
const compression = 9;
const NOTHING = new Uint8Array(0);
const OK: readonly [string, string] = [":status", "200"];
const ack = frame(FrameType.settings, Flag.ack, 0, NOTHING);
const empty = dataFrame(1, "");
const head = headFrame(1, [OK]);
const ping = frame(FrameType.ping, 0, 0, Buffer.alloc(8));

interface Attack {
  /** The chunks that the server sends while stream 1 is open. */
  readonly chunks: readonly Uint8Array[];
  /** The error code of GOAWAY. */
  readonly code: number;
}

function times(count: number, ...chunks: Uint8Array[]): Uint8Array[] {
  return Array.from({ length: count }, () => chunks).flat();
}

const BROKEN: Readonly<Record<string, Attack>> = {
  "a frame larger than we allow": { chunks: [frame(FrameType.data, 0, 1, Buffer.alloc(40_000))], code: frameSize },
  "a push": { chunks: [frame(5, Flag.endHeaders, 1, Buffer.alloc(4))], code: ErrorCode.protocol },
  "HEADERS for a stream of its own": { chunks: [headFrame(2, [OK])], code: ErrorCode.protocol },
  "HEADERS for stream 0": { chunks: [headFrame(0, [OK])], code: ErrorCode.protocol },
  "DATA for stream 0": { chunks: [dataFrame(0, "x")], code: ErrorCode.protocol },
  "WINDOW_UPDATE of 0 for the connection": {
    chunks: [numberFrame(FrameType.windowUpdate, 0, 0)],
    code: ErrorCode.protocol,
  },
  "a connection window beyond 2^31 - 1": {
    chunks: [numberFrame(FrameType.windowUpdate, 0, 2 ** 31 - 1)],
    code: ErrorCode.flowControl,
  },
  "SETTINGS for a stream": { chunks: [frame(FrameType.settings, 0, 1, NOTHING)], code: ErrorCode.protocol },
  "SETTINGS of 7 bytes": { chunks: [frame(FrameType.settings, 0, 0, Buffer.alloc(7))], code: frameSize },
  "an acknowledgement with bytes": {
    chunks: [frame(FrameType.settings, Flag.ack, 0, Buffer.alloc(6))],
    code: frameSize,
  },
  "SETTINGS that push": { chunks: [settingsFrame({ 2: 1 })], code: ErrorCode.protocol },
  "SETTINGS with a window beyond 2^31 - 1": { chunks: [settingsFrame({ 4: 2 ** 31 })], code: ErrorCode.flowControl },
  "SETTINGS with too small frames": { chunks: [settingsFrame({ 5: 16_383 })], code: ErrorCode.protocol },
  "SETTINGS with too large frames": { chunks: [settingsFrame({ 5: 2 ** 24 })], code: ErrorCode.protocol },
  "a PING for a stream": { chunks: [frame(FrameType.ping, 0, 1, Buffer.alloc(8))], code: ErrorCode.protocol },
  "a PING of 7 bytes": { chunks: [frame(FrameType.ping, 0, 0, Buffer.alloc(7))], code: frameSize },
  "a GOAWAY of 7 bytes": { chunks: [frame(FrameType.goaway, 0, 0, Buffer.alloc(7))], code: frameSize },
  "RST_STREAM of 5 bytes": { chunks: [frame(FrameType.reset, 0, 1, Buffer.alloc(5))], code: frameSize },
  "WINDOW_UPDATE of 3 bytes": { chunks: [frame(FrameType.windowUpdate, 0, 1, Buffer.alloc(3))], code: frameSize },
  "CONTINUATION without HEADERS": {
    chunks: [frame(FrameType.continuation, Flag.endHeaders, 1, NOTHING)],
    code: ErrorCode.protocol,
  },
  "another frame within a field block": {
    chunks: [frame(FrameType.headers, 0, 1, headerBlock([OK])), ping],
    code: ErrorCode.protocol,
  },
  "DATA within a field block": {
    chunks: [frame(FrameType.headers, 0, 1, headerBlock([OK])), empty],
    code: ErrorCode.protocol,
  },
  "CONTINUATION of another stream": {
    chunks: [frame(FrameType.headers, 0, 1, headerBlock([OK])), frame(FrameType.continuation, 4, 3, NOTHING)],
    code: ErrorCode.protocol,
  },
  "DATA with more padding than bytes": {
    chunks: [head, frame(FrameType.data, Flag.padded, 1, Buffer.from([3, 0, 0]))],
    code: ErrorCode.protocol,
  },
  "padded DATA without any byte": {
    chunks: [head, frame(FrameType.data, Flag.padded, 1, NOTHING)],
    code: ErrorCode.protocol,
  },
  "HEADERS with more padding than bytes": {
    chunks: [frame(FrameType.headers, Flag.padded | Flag.endHeaders, 1, Buffer.from([9, 0x88]))],
    code: ErrorCode.protocol,
  },
  "HEADERS that are too short for their priority": {
    chunks: [frame(FrameType.headers, Flag.priority | Flag.endHeaders, 1, Buffer.alloc(4))],
    code: frameSize,
  },
  "a field block that is no HPACK": {
    chunks: [frame(FrameType.headers, Flag.endHeaders, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))],
    code: compression,
  },
};

const FLOODS: Readonly<Record<string, Attack>> = {
  "a field block of very many frames": {
    chunks: [
      frame(FrameType.headers, 0, 1, headerBlock([OK])),
      ...times(200, frame(FrameType.continuation, 0, 1, NOTHING)),
    ],
    code: ErrorCode.enhanceYourCalm,
  },
  "a field block without end": {
    chunks: [
      frame(FrameType.headers, 0, 1, headerBlock([OK])),
      ...times(30, frame(FrameType.continuation, 0, 1, Buffer.alloc(16_000))),
    ],
    code: ErrorCode.enhanceYourCalm,
  },
  "PINGs": { chunks: times(3000, ping), code: ErrorCode.enhanceYourCalm },
  "SETTINGS": { chunks: times(3000, settingsFrame({ 3: 100 })), code: ErrorCode.enhanceYourCalm },
  "acknowledgements": { chunks: times(3000, ack), code: ErrorCode.enhanceYourCalm },
  "empty DATA": { chunks: [head, ...times(3000, empty)], code: ErrorCode.enhanceYourCalm },
  "DATA of padding": {
    chunks: [head, ...times(3000, frame(FrameType.data, Flag.padded, 1, Buffer.from([0])))],
    code: ErrorCode.enhanceYourCalm,
  },
  "empty DATA of a request that was given up": {
    chunks: times(3000, dataFrame(3, "")),
    code: ErrorCode.enhanceYourCalm,
  },
  "HEADERS of a request that was given up": {
    chunks: times(3000, headFrame(3, [OK])),
    code: ErrorCode.enhanceYourCalm,
  },
  "resets of streams that are gone": {
    chunks: times(3000, numberFrame(FrameType.reset, 1, 8)),
    code: ErrorCode.enhanceYourCalm,
  },
  "WINDOW_UPDATEs": { chunks: times(3000, numberFrame(FrameType.windowUpdate, 0, 1)), code: ErrorCode.enhanceYourCalm },
  "informational responses": {
    chunks: times(3000, headFrame(1, [[":status", "103"]])),
    code: ErrorCode.enhanceYourCalm,
  },
  "priorities": {
    chunks: times(3000, frame(FrameType.priority, 0, 1, Buffer.alloc(5))),
    code: ErrorCode.enhanceYourCalm,
  },
  "frames of no known type": { chunks: times(3000, frame(99, 0, 0, NOTHING)), code: ErrorCode.enhanceYourCalm },
  "GOAWAYs": { chunks: times(3000, goawayFrame(2 ** 31 - 1, 0)), code: ErrorCode.enhanceYourCalm },
};

const OVER: Readonly<Record<string, Uint8Array>> = {
  DATA: dataFrame(1, "more"),
  "empty DATA": dataFrame(1, "", true),
  HEADERS: headFrame(1, [OK], true),
};

for (const [words, more] of Object.entries(OVER)) {
  test(`${words} after the response's end ends the session with STREAM_CLOSED`, async () => {
    const { session, peer, owner } = await openSession();
    const [answer, other] = [ask(session), ask(session)];
    await turn();
    peer.take();
    peer.send(response(1, "whole"), more);
    assert.deepEqual([answer.text, answer.isEnded], ["whole", true]);
    assert.equal(other.error?.code, "PROTOCOL_ERROR");
    await turn();
    assert.equal(peer.takeOf(FrameType.goaway)[0]?.payload.readUInt32BE(4), streamClosed);
    peer.finish();
    await owner.closed;
  });

  test(`${words} after the server's RST_STREAM is answered with STREAM_CLOSED, once`, async () => {
    const { session, peer } = await openSession();
    const [answer, other] = [ask(session), ask(session)];
    await turn();
    peer.take();
    peer.send(head);
    peer.reset(1, ErrorCode.cancel);
    peer.send(more, more);
    await turn();
    const resets = peer.takeOf(FrameType.reset);
    assert.deepEqual(resets.map(({ stream, payload }) => [stream, payload.readUInt32BE(0)]), [[1, streamClosed]]);
    peer.send(response(3, "other"));
    assert.deepEqual([answer.error?.code, other.text], ["RESET", "other"]);
    assert.equal(session.closing, false);
  });

  test(`${words} that was under way when the request was given up is ignored`, async () => {
    const { session, peer } = await openSession();
    for (let i = 0; i < 21; i++) {
      const answers = Array.from({ length: 100 }, () => ask(session)); // in all more than are remembered
      await turn();
      for (const { exchange } of answers) exchange.cancel(new Error("enough"));
    }
    await turn();
    peer.take();
    peer.send(more);
    await turn();
    assert.deepEqual(peer.take(), []);
    assert.equal(session.closing, false);
  });
}

test("PRIORITY of 4 bytes resets a stream that is over, and ends the session for one that was not opened", async () => {
  const { session, peer, owner } = await openSession();
  ask(session);
  await turn();
  peer.take();
  peer.send(response(1, "whole"), frame(FrameType.priority, 0, 1, Buffer.alloc(4)));
  await turn();
  assert.deepEqual(peer.takeOf(FrameType.reset).map(({ payload }) => payload.readUInt32BE(0)), [frameSize]);
  peer.send(frame(FrameType.priority, 0, 99, Buffer.alloc(4)));
  await turn();
  assert.equal(peer.takeOf(FrameType.goaway)[0]?.payload.readUInt32BE(4), frameSize);
  peer.finish();
  await owner.closed;
});

/** Sends an attack to a session with three requests: the attack is about 1, and 3 and 5 have ended. */
async function attack({ chunks, code }: Attack): Promise<HttpErrorCode | undefined> {
  const { session, peer, owner } = await openSession();
  const [answer, ...others] = [ask(session), ask(session), ask(session)];
  await turn();
  for (const other of others) other.exchange.cancel(new Error("enough"));
  await turn();
  peer.take();
  peer.send(...chunks);
  assert.notEqual(answer.error, undefined);
  await turn();
  const [goaway] = peer.takeOf(FrameType.goaway);
  assert.equal(goaway?.payload.readUInt32BE(4), code);
  assert.deepEqual([session.free, session.closing, peer.isEnded], [0, true, true]);
  peer.send(response(1, "late"));
  peer.finish();
  await owner.closed;
  return owner.error?.code;
}

for (const [words, broken] of Object.entries(BROKEN)) {
  test(`${words} ends the session with PROTOCOL_ERROR`, async () => {
    assert.equal(await attack(broken), "PROTOCOL_ERROR");
  });
}

for (const [words, flood] of Object.entries(FLOODS)) {
  test(`a flood of ${words} ends the session with LIMIT_EXCEEDED`, async () => {
    assert.equal(await attack(flood), "LIMIT_EXCEEDED");
  });
}

/** Frames for a stream, each of which a server may send only once that is open. */
const FOR_STREAMS: Readonly<Record<string, (stream: number) => readonly Uint8Array[]>> = {
  "a whole response": (stream) => [response(stream, "early")],
  "HEADERS": (stream) => [headFrame(stream, [OK])],
  "HEADERS and CONTINUATION": (stream) => [
    frame(FrameType.headers, 0, stream, headerBlock([OK])),
    frame(FrameType.continuation, Flag.endHeaders, stream, NOTHING),
  ],
  "DATA": (stream) => [dataFrame(stream, "x")],
  "empty DATA": (stream) => [dataFrame(stream, "", true)],
  "RST_STREAM": (stream) => [numberFrame(FrameType.reset, stream, ErrorCode.refusedStream)],
  "WINDOW_UPDATE": (stream) => [numberFrame(FrameType.windowUpdate, stream, 1)],
};

/** The moments at which a server may send frames for idle streams: each returns the id of the first of these, and the requests that wait. */
const MOMENTS: Readonly<Record<string, (session: Connection) => Promise<{ id: number; waiting: Answer[] }>>> = {
  "before the first request": () => Promise.resolve({ id: 1, waiting: [] }),
  "in the turn in which requests start": (session) => Promise.resolve({ id: 1, waiting: [ask(session), ask(session)] }),
  "while a look at an idle session is running": async (session) => {
    const waiting = [ask(session)];
    await Promise.resolve();
    return { id: 1, waiting };
  },
  "while a look at a busy session is running": async (session) => {
    ask(session);
    await turn();
    const waiting = [ask(session, "/", { method: "POST", body: new WholeBody(new Uint8Array(1)) }), ask(session)];
    await Promise.resolve();
    return { id: 3, waiting };
  },
  "behind a request that was given up while it waited": async (session) => {
    ask(session).exchange.cancel(new Error("enough"));
    await turn();
    return { id: 1, waiting: [] };
  },
};

for (const [when, reach] of Object.entries(MOMENTS)) {
  for (const [words, framesFor] of Object.entries(FOR_STREAMS)) {
    test(`${words} for an idle stream ${when} ends the session with PROTOCOL_ERROR, and requests that wait are untouched`, async () => {
      for (const further of [0, 2, 100]) {
        const { session, peer, owner } = await openSession();
        const { id, waiting } = await reach(session);
        peer.take();
        peer.send(frame(FrameType.priority, 0, id + further, Buffer.alloc(5))); // may come in any state
        assert.equal(session.closing, false);
        peer.send(...framesFor(id + further));
        assert.equal(session.closing, true);
        for (const { head, error, isUntouched } of waiting) {
          assert.deepEqual([head, error?.code, isUntouched], [undefined, "PROTOCOL_ERROR", true]);
        }
        await turn();
        const sent = peer.take();
        assert.deepEqual(sent.map(({ type }) => type), [FrameType.goaway]);
        assert.equal(sent[0].payload.readUInt32BE(4), ErrorCode.protocol);
        peer.finish();
        await owner.closed;
      }
    });
  }
}

test("a server that begins with something else than SETTINGS is none of HTTP/2", async () => {
  const peer = new MemoryPeer();
  const { session, owner } = openOn(peer);
  const answer = ask(session);
  peer.send(ping);
  assert.equal(answer.error?.code, "PROTOCOL_ERROR");
  peer.finish();
  await owner.closed;
});

test("DATA before SETTINGS is no HTTP/2 either", async () => {
  const peer = new MemoryPeer();
  const { session, owner } = openOn(peer);
  const answer = ask(session);
  peer.send(dataFrame(1, "x"));
  assert.equal(answer.error?.code, "PROTOCOL_ERROR");
  assert.equal(session.closing, true);
  peer.finish();
  await owner.closed;
});

test("a request that was not sent when the server broke the rules is untouched, and not sent any more", async () => {
  const { session, peer, owner } = await openSession();
  const sent = ask(session);
  await turn();
  peer.take();
  const unsent = ask(session);
  peer.send(dataFrame(2, "x"));
  assert.deepEqual([sent.isUntouched, unsent.isUntouched], [false, true]);
  await turn();
  assert.deepEqual(peer.take().map(({ type }) => type), [FrameType.goaway]);
  peer.finish();
  await owner.closed;
});

test("a server that speaks HTTP/1.1 is found out", async () => {
  const peer = new MemoryPeer();
  const { session, owner } = openOn(peer);
  const answer = ask(session);
  peer.send(Buffer.from("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"));
  assert.equal(answer.error?.code, "PROTOCOL_ERROR");
  peer.finish();
  await owner.closed;
});

test("answers to PINGs do not pile up for a server that does not read", async () => {
  const { session, peer, owner } = await openSession();
  const answer = ask(session);
  await turn();
  peer.full = true;
  peer.send(head);
  let sent = 0;
  for (; sent < 100_000 && answer.error === undefined; sent++) {
    peer.send(ping);
    for (let i = 0; i < 2; i++) peer.send(dataFrame(1, "x")); // progress, so that it is no flood
  }
  assert.equal(answer.error?.code, "LIMIT_EXCEEDED");
  assert.ok(sent < 2000, `${sent} PINGs`);
  peer.finish();
  await owner.closed;
});

test("many frames are no flood if they move requests on", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(head);
  for (let i = 0; i < 5000; i++) {
    peer.send(dataFrame(1, "x"), ping);
    answer.exchange.consumed(1);
  }
  assert.equal(answer.size, 5000);
  assert.equal(session.closing, false);
});

for (const unit of [128, 1024, 4096]) {
  test(`a server that gives a body back in pieces of ${unit} bytes, each twice, does not flood`, async () => {
    const { session, peer } = await openSession({}, { 4: 2 ** 20, 5: 2 ** 20 });
    const size = 3_000_000;
    const upload = ask(session, "/", { method: "POST", body: new WholeBody(new Uint8Array(size)) });
    let received = 0;
    while (received < size && !session.closing) {
      await turn();
      const sent = peer.takeOf(FrameType.data).reduce((sum, { payload }) => sum + payload.length, 0);
      received += sent;
      for (let rest = sent; rest > 0; rest -= unit) {
        for (const stream of [0, 1]) peer.widen(stream, Math.min(unit, rest));
      }
    }
    assert.deepEqual([received, upload.error], [size, undefined]);
  });
}

test("a server that refuses every request does not flood", async () => {
  const { session, peer } = await openSession();
  for (let first = 1; first < 10_000; first += 200) {
    const answers = Array.from({ length: 100 }, () => ask(session));
    await turn();
    for (let i = 0; i < 100; i++) peer.reset(first + 2 * i, ErrorCode.refusedStream);
    assert.ok(answers.every(({ isUntouched }) => isUntouched));
  }
  assert.equal(session.closing, false);
});
