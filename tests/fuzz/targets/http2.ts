import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { dataFrame, headFrame, response } from "../../http/h2/memory_peer.ts";
import { type Answer, ask, openSession, turn } from "../../http/h2/opened_session.ts";
import { ScriptedBody } from "../../http/h2/scripted_body.ts";
import { frame, goawayFrame, numberFrame, settingsFrame } from "../../http/faults/http2_frames.ts";
import { choices, cut, ending, type Target } from "../target.ts";

/**
 * The reported events of a request, the bytes of its body joined. The part of a body before a fault depends on where
 * the bytes are cut.
 */
function told({ informational, head, text, trailers, isEnded, error }: Answer): string {
  const body = error === undefined ? text : "";
  return JSON.stringify([informational, head, body, trailers, isEnded, error === undefined ? "" : ending(error)]);
}

/** Sends bytes to a session with three pending requests, and returns the reported events. */
async function converse(pieces: readonly Uint8Array[]): Promise<string[]> {
  const { session, peer, owner } = await openSession({ maxHeaderSize: 1000 });
  const body = new ScriptedBody().give(Buffer.from("abc"));
  const answers = [ask(session), ask(session, "/", { method: "POST", body }), ask(session)];
  await turn();
  peer.send(...pieces);
  await turn();
  peer.finish();
  await owner.closed;
  for (const { isEnded, isLate, error } of answers) {
    // A body that continues after the response may still fail.
    assert.equal(isEnded, error === undefined || isLate, "a request without an end");
  }
  assert.equal(session.active, 0, "requests are left");
  assert.deepEqual(owner.calls.slice(-1), ["closed"]);
  return [...answers.map(told), owner.error === undefined ? "" : ending(owner.error)];
}

/** nghttp2's own inputs for fuzzing, if its checkout is there. */
function nghttp2Corpus(): Uint8Array<ArrayBuffer>[] {
  const root = process.env.NGHTTP2_ROOT;
  if (root === undefined) return [];
  return globSync("fuzz/corpus/*/*", { cwd: root }).sort().map((path) =>
    Uint8Array.from(readFileSync(join(root, path)))
  );
}

/** Bytes of a server after its first SETTINGS, with three pending requests. */
export const http2: Target = {
  name: "http2",
  what: "frames of HTTP/2: each request is told one end, the same however the bytes are cut",
  maxSize: 4000,
  tokens: [
    [0, 0, 0, 0, 1, 0, 0, 0, 1],
    [0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88],
    [0, 0, 1, 1, 5, 0, 0, 0, 3, 0x88],
    [0, 0, 4, 3, 0, 0, 0, 0, 5, 0, 0, 0, 8],
    [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8],
    [0, 0, 0, 4, 1, 0, 0, 0, 0],
    [0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, 0, 9, 4, 0, 0, 0, 1],
  ].map((bytes) => String.fromCharCode(...bytes)),

  seeds(): Uint8Array[] {
    const early = headFrame(1, [[":status", "103"], ["link", "</a>"]]);
    return [
      [response(1, "hello"), response(3, ""), response(5, "world", "404")],
      [
        early,
        headFrame(1, [[":status", "200"], ["content-length", "5"]]),
        dataFrame(1, "hel"),
        dataFrame(1, "lo", true),
      ],
      [headFrame(3, [[":status", "200"]]), headFrame(3, [["x-sum", "1"]], true), settingsFrame({ 1: 0, 4: 100 })],
      [numberFrame(3, 5, 7), numberFrame(8, 0, 1000), frame(6, 0, 0, Buffer.alloc(8)), response(1, "x")],
      [response(5, "late"), goawayFrame(3, 0), response(1, "a"), response(3, "b")],
      [frame(0, 9, 1, Buffer.from("\x03abc\0\0\0", "latin1"))],
    ].map((frames) => Uint8Array.from(Buffer.concat(frames))).concat(nghttp2Corpus());
  },

  async check(input): Promise<string> {
    const whole = await converse([Uint8Array.from(input)]);
    assert.deepEqual(await converse(cut(input, choices(input))), whole, "another story when cut");
    return whole.map((story) => story.replace(/^\[\[|"[^"]*"|\d+/g, "")).join("|") + whole.at(-1);
  },
};
