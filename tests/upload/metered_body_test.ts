import assert from "node:assert/strict";
import test from "node:test";
import type { Announced } from "../../lib/upload/body/announced.ts";
import { MeteredBody } from "../../lib/upload/body/receive_body.ts";
import { pause } from "../support/waits.ts";
import { bodyOf } from "./manual_body.ts";

const announced: Announced = { expectedBytes: undefined, digests: new Map() };

test("a metered body counts the time of reads, and none between them", async () => {
  const source = bodyOf();
  const body = new MeteredBody(source, announced, {});
  await pause(5);
  assert.equal(body.waited, 0);
  const reading = body.read();
  await pause(5);
  const half = body.waited;
  assert.ok(half > 0);
  await pause(5);
  assert.ok(body.waited > half, "it goes on while a read waits");
  source.give([new Uint8Array(3)]);
  await reading;
  const { waited, bytes } = body;
  await pause(5);
  assert.deepEqual([body.waited, body.bytes, bytes], [waited, 3, 3]);
  await body.cancel(undefined);
});

test("a metered body counts no time in which its sender is held back", async () => {
  const source = bodyOf();
  const body = new MeteredBody(source, announced, {});
  source.give([new Uint8Array(3)]);
  await body.read();
  const { waited } = body;
  source.isPaused = true;
  const reading = body.read();
  await pause(10);
  assert.equal(body.waited, waited);
  source.isPaused = false;
  body.release();
  await pause(5);
  assert.ok(body.waited > waited, "the sender may send again");
  source.give([new Uint8Array(3)]);
  await reading;
  await body.cancel(undefined);
});
