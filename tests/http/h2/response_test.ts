import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { ErrorCode, Flag, frame, FrameType, headerBlock, readSettings } from "../faults/http2_frames.ts";
import { dataFrame, headFrame, MemoryPeer, response } from "./memory_peer.ts";
import { ask, openOn, openSession, turn } from "./opened_session.ts";

const OK: readonly [string, string] = [":status", "200"];

test("a session begins with the preface, its SETTINGS and a wide connection window, in one write", async () => {
  const peer = new MemoryPeer();
  openOn(peer, { streamWindow: 123_456, maxHeaderSize: 7777 });
  await turn();
  const [settings, window, ...others] = peer.take();
  assert.equal(settings.type, FrameType.settings);
  const values = readSettings(settings.payload);
  assert.deepEqual([values.get(2), values.get(4), values.get(6)], [0, 123_456, 7777]);
  assert.equal(window.type, FrameType.windowUpdate);
  assert.ok(window.payload.readUInt32BE(0) >= 16 * 1024 * 1024 - 65_535);
  assert.deepEqual(others, []);
  assert.equal(peer.writes, 1);
});

test("a request without a body is one HEADERS frame that ends the stream", async () => {
  const { session, peer } = await openSession();
  ask(session, "/a?b", { headers: ["accept", "*/*"] });
  await turn();
  const [headers, ...others] = peer.take();
  assert.deepEqual([headers.type, headers.flags, headers.stream], [
    FrameType.headers,
    Flag.endHeaders | Flag.endStream,
    1,
  ]);
  assert.deepEqual([...peer.fields(headers.payload)].sort(), [
    [":authority", "test"],
    [":method", "GET"],
    [":path", "/a?b"],
    [":scheme", "http"],
    ["accept", "*/*"],
  ]);
  assert.deepEqual(others, []);
});

test("POST, PUT and PATCH without a body say Content-Length: 0, other methods nothing", async () => {
  const { session, peer } = await openSession();
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "GET"]) ask(session, "/", { method });
  await turn();
  const lengths = peer.take().map((frame) => peer.fields(frame.payload).get("content-length"));
  assert.deepEqual(lengths, ["0", "0", "0", undefined, undefined]);
});

test("requests of one turn go out in one write", async () => {
  const { session, peer } = await openSession();
  const before = peer.writes;
  for (let i = 0; i < 20; i++) ask(session);
  assert.equal(peer.writes, before);
  await turn();
  assert.equal(peer.takeOf(FrameType.headers).length, 20);
  assert.equal(peer.writes, before + 1);
});

test("a response reaches its own request, head first, then its bytes and its end", async () => {
  const { session, peer } = await openSession();
  const first = ask(session);
  const second = ask(session);
  await turn();
  peer.send(Buffer.concat([
    headFrame(3, [OK, ["x-name", "second"]]),
    headFrame(1, [OK, ["x-name", "first"]]),
    dataFrame(3, "two"),
    dataFrame(1, "one", true),
    dataFrame(3, "!", true),
  ]));
  assert.deepEqual(first.head, { status: 200, statusText: "", headers: ["x-name", "first"] });
  assert.deepEqual(second.head, { status: 200, statusText: "", headers: ["x-name", "second"] });
  assert.deepEqual([first.text, first.isEnded], ["one", true]);
  assert.deepEqual([second.text, second.isEnded], ["two!", true]);
  assert.equal(session.active, 0);
});

test("responses whose DATA frames come together are each as they were sent, wherever the network cuts them", async () => {
  const bytes = Buffer.concat([
    headFrame(1, [OK]),
    headFrame(3, [OK]),
    dataFrame(1, "a"),
    dataFrame(1, "bc"),
    dataFrame(1, ""),
    dataFrame(1, "def"),
    dataFrame(3, "123"),
    dataFrame(1, "g"),
    dataFrame(1, "h"),
    frame(FrameType.data, Flag.padded, 1, Buffer.from([1, 105, 0])),
    dataFrame(3, "4"),
    dataFrame(3, "5", true),
    dataFrame(1, "j"),
    dataFrame(1, "", true),
  ]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const { session, peer } = await openSession();
    const [first, second] = [ask(session), ask(session)];
    await turn();
    peer.send(bytes.subarray(0, cut), bytes.subarray(cut));
    assert.deepEqual([first.text, first.isEnded], ["abcdefghij", true], `cut at ${cut}`);
    assert.deepEqual([second.text, second.isEnded], ["12345", true], `cut at ${cut}`);
  }
});

test("a response is the same wherever the network cuts it", async () => {
  const bytes = Buffer.concat([
    frame(FrameType.settings, 0, 0, Buffer.from([0, 3, 0, 0, 0, 9])),
    headFrame(1, [OK, ["x", "y".repeat(30)]]),
    dataFrame(1, "some bytes"),
    frame(FrameType.data, Flag.padded, 1, Buffer.from([3, 104, 105, 0, 0, 0])),
    frame(FrameType.ping, 0, 0, Buffer.from("pingpong")),
    dataFrame(1, "the end", true),
  ]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const { session, peer } = await openSession();
    const answer = ask(session);
    await turn();
    peer.send(bytes.subarray(0, cut), bytes.subarray(cut));
    assert.equal(answer.text, "some byteshithe end", `cut at ${cut}`);
    assert.ok(answer.isEnded);
    assert.equal(session.peerMaxConcurrentStreams, 9);
    await turn();
    assert.equal(peer.takeOf(FrameType.ping)[0].payload.toString(), "pingpong");
  }
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  for (const byte of bytes) peer.send(Uint8Array.of(byte));
  assert.equal(answer.text, "some byteshithe end");
});

test("HEADERS may be padded, have a priority, and go on in CONTINUATION frames", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  const block = headerBlock([OK, ["a", "b"]]);
  const head = Buffer.concat([Buffer.from([2, 0, 0, 0, 3, 15]), block.subarray(0, 3), Buffer.from([0, 0])]);
  peer.send(Buffer.concat([
    frame(FrameType.headers, Flag.padded | Flag.priority, 1, head),
    frame(FrameType.continuation, 0, 1, block.subarray(3, 9)),
    frame(FrameType.continuation, 0, 1, new Uint8Array(0)),
    frame(FrameType.continuation, Flag.endHeaders, 1, block.subarray(9)),
    dataFrame(1, "x", true),
  ]));
  assert.deepEqual(answer.head?.headers, ["a", "b"]);
  assert.equal(answer.text, "x");
});

test("trailers are given with the end", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [OK]), dataFrame(1, "x"), headFrame(1, [["x-sum", "1"]], true));
  assert.deepEqual(answer.trailers, ["x-sum", "1"]);
  assert.ok(answer.isEnded);
});

test("informational responses come before the final one", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [[":status", "103"], ["link", "</a>"]]), headFrame(1, [[":status", "100"]]), response(1, "x"));
  assert.deepEqual(answer.informational, [103, 100]);
  assert.equal(answer.head?.status, 200);
  assert.ok(answer.isEnded);
});

test("a response to HEAD, and 204 and 304, have no body whatever Content-Length says", async () => {
  const { session, peer } = await openSession();
  const head = ask(session, "/", { method: "HEAD" });
  const unchanged = ask(session);
  await turn();
  peer.send(headFrame(1, [OK, ["content-length", "1000"]], true));
  peer.send(headFrame(3, [[":status", "304"], ["content-length", "1000"]], true));
  assert.ok(head.isEnded && unchanged.isEnded);
});

test("a head alone can be the whole response", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(headFrame(1, [OK, ["content-length", "0"]], true));
  assert.ok(answer.isEnded);
});

const MALFORMED: Readonly<Record<string, { frames: Buffer[]; method?: string }>> = {
  "is longer than its Content-Length": { frames: [headFrame(1, [OK, ["content-length", "2"]]), dataFrame(1, "abc")] },
  "ends before its Content-Length": {
    frames: [headFrame(1, [OK, ["content-length", "4"]]), dataFrame(1, "abc", true)],
  },
  "ends before its Content-Length with trailers": {
    frames: [headFrame(1, [OK, ["content-length", "4"]]), headFrame(1, [["a", "b"]], true)],
  },
  "ends with its head before its Content-Length": { frames: [headFrame(1, [OK, ["content-length", "4"]], true)] },
  "has a Content-Length that is no number": { frames: [headFrame(1, [OK, ["content-length", "+4"]])] },
  "has two Content-Lengths": {
    frames: [headFrame(1, [OK, ["content-length", "1"], ["content-length", "2"]]), dataFrame(1, "a", true)],
  },
  "has a body though it is one to HEAD": { frames: [headFrame(1, [OK]), dataFrame(1, "a")], method: "HEAD" },
  "has a body though its status is 204": { frames: [headFrame(1, [[":status", "204"]]), dataFrame(1, "a")] },
  "begins with DATA": { frames: [dataFrame(1, "a")] },
  "is informational and ends the stream": { frames: [headFrame(1, [[":status", "103"]], true)] },
  "has no status": { frames: [headFrame(1, [["a", "b"]])] },
  "has two heads": { frames: [headFrame(1, [OK]), headFrame(1, [["a", "b"]])] },
  "has an upper-case field": { frames: [headFrame(1, [OK, ["Upper", "b"]])] },
  "has pseudo-header fields in its trailers": { frames: [headFrame(1, [OK]), headFrame(1, [OK], true)] },
};

for (const [words, { frames, method }] of Object.entries(MALFORMED)) {
  test(`a response that ${words} fails with PROTOCOL_ERROR, and no other`, async () => {
    const { session, peer } = await openSession();
    const answer = ask(session, "/", { method });
    const other = ask(session);
    await turn();
    peer.take();
    peer.send(Buffer.concat([...frames, response(3, "fine")]));
    assert.equal(answer.error?.code, "PROTOCOL_ERROR");
    assert.equal(answer.isUntouched, false);
    assert.equal(answer.error?.origin, "http://test");
    assert.equal(other.text, "fine");
    await turn();
    const [reset] = peer.takeOf(FrameType.reset);
    assert.deepEqual([reset.stream, reset.payload.readUInt32BE(0)], [1, ErrorCode.protocol]);
    assert.equal(session.active, 0);
    assert.equal(session.closing, false);
  });
}

test("a header section larger than maxHeaderSize fails its own request only", async () => {
  const { session, peer } = await openSession({ maxHeaderSize: 1000 });
  const answer = ask(session);
  const other = ask(session);
  await turn();
  peer.send(headFrame(1, [OK, ["x", "y".repeat(1500)]]), response(3, "fine"));
  assert.equal(answer.error?.code, "LIMIT_EXCEEDED");
  assert.equal(other.text, "fine");
});

test("frames of a type that nobody knows are ignored", async () => {
  const { session, peer } = await openSession();
  const answer = ask(session);
  await turn();
  peer.send(
    frame(0xfa, 0xff, 77, Buffer.from("?")),
    frame(FrameType.priority, 0, 1, Buffer.alloc(5)),
    response(1, "x"),
  );
  assert.equal(answer.text, "x");
});

test("a request's header section that is larger than a frame goes on in CONTINUATION frames", async () => {
  const { session, peer } = await openSession();
  const headers = Array.from({ length: 20 }, (_, i) => [`x-${i}`, `${i}~`.repeat(1000)]).flat();
  ask(session, "/", { headers });
  await turn();
  const [first, ...others] = peer.take();
  assert.equal(first.type, FrameType.headers);
  assert.equal(first.flags, Flag.endStream);
  assert.ok(others.length >= 1);
  assert.ok(others.every((frame) => frame.type === FrameType.continuation && frame.stream === 1));
  assert.deepEqual(others.map((frame) => frame.flags), [...others.slice(1).map(() => 0), Flag.endHeaders]);
  const fields = peer.fields(Buffer.concat([first, ...others].map((frame) => frame.payload)));
  assert.equal(fields.get("x-19"), "19~".repeat(1000));
});
