import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { FrameReader } from "../../../lib/http/h2/frame_reader.ts";
import { http2 } from "../../fuzz/targets/http2.ts";
import { FrameType } from "../faults/http2_frames.ts";
import { turn } from "../../support/waits.ts";
import { ask, openSession } from "../h2/opened_session.ts";

const cases = process.env.HTTP2_FRAME_TEST_CASE_ROOT;
const nghttp2 = process.env.NGHTTP2_ROOT;

/** A frame with its expected contents, or the error codes of an invalid one. */
interface Case {
  readonly error: readonly number[] | null;
  readonly wire: string;
  readonly frame: {
    readonly length: number;
    readonly flags: number;
    readonly stream_identifier: number;
    readonly type: number;
    readonly frame_payload: { readonly data?: string; readonly padding_length?: number };
  } | null;
}

/** Returns the contents of one frame, as a reader reports them. */
function parsed(wire: Uint8Array): object {
  const found: Record<string, unknown> = {};
  const reader = new FrameReader({
    onDataFrame: (stream, size) => void Object.assign(found, { type: 0, stream, size }),
    onData: (_, chunk, start, end) => void (found.data = Buffer.from(chunk.subarray(start, end)).toString()),
    onPadding: (_, padding) => void (found.padding = padding - 1),
    onFrame: (type, flags, stream, _, start, end) =>
      void Object.assign(found, { type, flags, stream, size: end - start }),
  }, 32_768);
  if (wire[3] === FrameType.continuation) reader.unfinishedBlock = Buffer.from(wire).readUInt32BE(5);
  reader.read(wire);
  return found;
}

/** A frame of 32,768 bytes, which our SETTINGS allow. */
const ALLOWED = /data-frame-size/;

test("the frame cases of http2jp are read, and refused with one of the codes that are allowed", {
  skip: cases ? false : "HTTP2_FRAME_TEST_CASE_ROOT names no checkout of http2jp/http2-frame-test-case",
}, async () => {
  const paths = globSync("*/*.json", { cwd: cases }).sort();
  for (const path of paths) {
    const { error, wire, frame } = JSON.parse(readFileSync(join(cases!, path), "utf8")) as Case;
    const bytes = Uint8Array.from(Buffer.from(wire, "hex"));
    if (frame !== null) {
      const { type, flags, stream_identifier: stream, length: size, frame_payload: { data, padding_length } } = frame;
      const expected = type === FrameType.data
        ? { type, stream, size, data, padding: padding_length }
        : { type, flags, stream, size };
      assert.deepEqual(parsed(bytes), expected, path);
      continue;
    }
    if (ALLOWED.test(path)) continue;
    const { session, peer, owner } = await openSession();
    const answer = ask(session);
    await turn();
    peer.take();
    peer.send(bytes);
    await turn();
    const ended = peer.take().find(({ type }) => type === FrameType.goaway || type === FrameType.reset);
    // Some are for streams that were never opened, which is seen first.
    const code = ended?.payload.readUInt32BE(ended.type === FrameType.goaway ? 4 : 0);
    assert.ok(code === 1 || error!.includes(code!), `${path}: ${code}`);
    assert.notEqual(answer.error, undefined, path);
    peer.finish();
    await owner.closed;
  }
  assert.ok(paths.length >= 30, `only ${paths.length} cases`);
});

test("each request ends once, however a server's bytes are cut, with nghttp2's corpora in place of a server", {
  skip: nghttp2 ? false : "NGHTTP2_ROOT names no checkout of nghttp2",
}, async () => {
  const paths = globSync("fuzz/corpus/*/*", { cwd: nghttp2 }).sort();
  for (const path of paths) await http2.check(Uint8Array.from(readFileSync(join(nghttp2!, path))));
  assert.ok(paths.length >= 100, `only ${paths.length} inputs`);
});
