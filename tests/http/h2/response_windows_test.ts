import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { ErrorCode, Flag, frame, FrameType } from "../faults/http2_frames.ts";
import { dataFrame, headFrame, MemoryPeer } from "./memory_peer.ts";
import { type Answer, ask, openOn, openSession, turn } from "./opened_session.ts";

const FRAME = 16_384;
const MEGABYTE = 1024 * 1024;

/** Returns the room that WINDOW_UPDATEs so far give a stream; 0 is the connection. */
function roomGiven(peer: MemoryPeer, stream: number): number {
  return peer.takeOf(FrameType.windowUpdate)
    .filter((frame) => frame.stream === stream)
    .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
}

function sendBody(peer: MemoryPeer, stream: number, bytes: number): void {
  const piece = Buffer.alloc(FRAME);
  for (let left = bytes; left > 0; left -= FRAME) {
    peer.send(dataFrame(stream, piece.subarray(0, Math.min(left, FRAME))));
  }
}

test("a stream gets room as its reader takes bytes, by half windows", async () => {
  const { session, peer } = await openSession({ streamWindow: 100_000 });
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "200"]]));
  sendBody(peer, 1, 100_000);
  await turn();
  assert.equal(roomGiven(peer, 1), 0);
  answer.exchange.consumed(49_999);
  await turn();
  assert.equal(roomGiven(peer, 1), 0);
  answer.exchange.consumed(1);
  await turn();
  assert.equal(roomGiven(peer, 1), 50_000);
  answer.exchange.consumed(50_000);
  await turn();
  assert.equal(roomGiven(peer, 1), 50_000);
});

test("a response that nobody reads does not stall the others", async () => {
  const { session, peer } = await openSession({ streamWindow: MEGABYTE });
  const slow = ask(session);
  const fast = ask(session);
  await turn();
  for (const stream of [1, 3]) peer.send(headFrame(stream, [[":status", "200"]]));
  sendBody(peer, 1, MEGABYTE);
  fast.whenData = (chunk) => fast.exchange.consumed(chunk.length);
  let connection = 16 * MEGABYTE - MEGABYTE;
  let stream = MEGABYTE;
  for (let i = 0; i < 100; i++) {
    connection -= MEGABYTE / 2;
    stream -= MEGABYTE / 2;
    assert.ok(connection >= 0 && stream >= 0, "the server may send on");
    sendBody(peer, 3, MEGABYTE / 2);
    await turn();
    const updates = peer.takeOf(FrameType.windowUpdate);
    for (const update of updates) {
      if (update.stream === 0) connection += update.payload.readUInt32BE(0);
      else stream += update.payload.readUInt32BE(0);
    }
  }
  assert.equal(fast.size, 50 * MEGABYTE);
  assert.equal(slow.size, MEGABYTE);
});

test("a stream whose rest has room is given none", async () => {
  const { session, peer } = await openSession({ streamWindow: 100_000 });
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "200"], ["content-length", "120000"]]));
  sendBody(peer, 1, 90_000);
  answer.exchange.consumed(90_000);
  await turn();
  assert.equal(roomGiven(peer, 1), 90_000);
  sendBody(peer, 1, 20_000);
  answer.exchange.consumed(20_000);
  await turn();
  assert.equal(roomGiven(peer, 1), 0);
});

test("padding gives its room back by itself", async () => {
  const { session, peer } = await openSession({ streamWindow: 65_535 });
  ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "200"]]));
  const padded = Buffer.concat([Buffer.from([255]), Buffer.alloc(256)]);
  for (let i = 0; i < 200; i++) peer.send(frame(FrameType.data, Flag.padded, 1, padded));
  await turn();
  assert.ok(roomGiven(peer, 1) >= 65_535 / 2);
});

test("a server that sends more than the stream's window allows has that stream reset", async () => {
  const { session, peer } = await openSession({ streamWindow: 65_535 });
  const answer = ask(session);
  const other = ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "200"]]));
  sendBody(peer, 1, 65_535);
  assert.equal(answer.size, 65_535);
  peer.send(dataFrame(1, "x"));
  assert.equal(answer.error?.code, "PROTOCOL_ERROR");
  await turn();
  const [reset] = peer.takeOf(FrameType.reset);
  assert.equal(reset.payload.readUInt32BE(0), ErrorCode.flowControl);
  assert.equal(other.error, undefined);
});

test("until it knows our SETTINGS, the server may use the default window, though ours is smaller", async () => {
  const peer = new MemoryPeer();
  const { session } = openOn(peer, { streamWindow: 1000 });
  peer.settings();
  const answer = ask(session);
  peer.send(headFrame(1, [[":status", "200"]]));
  sendBody(peer, 1, 10_000);
  peer.acknowledgeSettings();
  assert.equal(answer.size, 10_000);
  answer.exchange.consumed(10_000);
  await turn();
  assert.equal(roomGiven(peer, 1), 10_000); // from -9000 to 1000
  sendBody(peer, 1, 1000);
  assert.equal(answer.size, 11_000);
  peer.send(dataFrame(1, "x"));
  assert.equal(answer.error?.code, "PROTOCOL_ERROR");
});

test("what comes for a request that was given up is dropped, and the connection's window gets it back", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "200"]]));
  answer.exchange.cancel(new Error("enough"));
  for (let i = 0; i < 9; i++) sendBody(peer, 1, MEGABYTE);
  peer.send(headFrame(1, [["x-trailer", "1"]], true));
  await turn();
  assert.ok(roomGiven(peer, 0) >= 8 * MEGABYTE);
  assert.equal(answer.size, 0);
  assert.equal(session.closing, false);
});

test("a handler may give its request up in the middle of a response", async () => {
  const { session, peer } = await openSession();
  const answers: Answer[] = [];
  for (const give of ["head", "data"]) {
    const answer = ask(session);
    answers.push(answer);
    const cancel = (): void => answer.exchange.cancel(new Error("enough"));
    if (give === "head") answer.whenHead = cancel;
    else answer.whenData = cancel;
  }
  await turn();
  const frames = [1, 3].map((stream) => [headFrame(stream, [[":status", "200"]]), dataFrame(stream, "x", true)]);
  peer.send(Buffer.concat(frames.flat()));
  assert.deepEqual(answers.map(({ isEnded, error }) => [isEnded, error]), [[false, undefined], [false, undefined]]);
  assert.deepEqual(answers.map(({ text }) => text), ["", "x"]);
  await turn();
  assert.deepEqual(peer.takeOf(FrameType.reset).map(({ stream }) => stream), [1, 3]);
});
