import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { frame, headerBlock } from "../faults/http2_frames.ts";
import { ask, openSession, turn } from "./opened_session.ts";
import { ScriptedBody } from "./scripted_body.ts";
import { tries } from "../../support/long_run.ts";

const heads = [
  headerBlock([[":status", "200"]]),
  headerBlock([[":status", "103"], ["a", "b"]]),
  headerBlock([["x-trailer", "1"]]),
  headerBlock([[":status", "200"], ["content-length", "3"]]),
];

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 20 }),
  fc.constantFrom(...heads),
  fc.constantFrom(Buffer.alloc(4), Buffer.alloc(8), Buffer.from([0, 4, 0, 0, 0, 9]), Buffer.from([0, 0, 0, 1])),
);

/** Frames that are plausible more often than not. */
const frames = fc.array(
  fc.record({
    type: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(0, 1, 1, 3, 4, 8, 9) }, fc.nat(12)),
    flags: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(0, 4, 4, 5, 1, 8) }, fc.nat(255)),
    stream: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(0, 1, 3, 5) }, fc.nat(12)),
    payload,
  }),
  { maxLength: 30 },
);

test("whatever a server sends, however it is cut, every request is told its end once, and nothing throws", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.nat(1000), fc.boolean(), async (list, cut, areOpen) => {
      const { session, peer, owner } = await openSession();
      const body = new ScriptedBody().give(Buffer.from("abc"));
      const answers = [ask(session), ask(session, "/", { method: "POST", body }), ask(session)];
      if (areOpen) await turn();
      const bytes = Buffer.concat(list.map(({ type, flags, stream, payload }) => frame(type, flags, stream, payload)));
      const at = bytes.length === 0 ? 0 : cut % bytes.length;
      peer.send(bytes.subarray(0, at), bytes.subarray(at));
      await turn();
      peer.finish();
      await owner.closed;
      // A body that continues after the response may still fail.
      for (const { isEnded, isLate, error } of answers) assert.equal(isEnded, error === undefined || isLate);
      assert.equal(session.active, 0);
      assert.deepEqual(owner.calls.slice(-1), ["closed"]);
    }),
    { numRuns: tries(1500) },
  );
});

test("bytes that are no frames end the session, or wait for more", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const { session, peer, owner } = await openSession();
      const answer = ask(session);
      peer.send(bytes);
      peer.finish();
      await owner.closed;
      assert.equal(answer.isEnded, answer.error === undefined);
    }),
    { numRuns: tries(500) },
  );
});
