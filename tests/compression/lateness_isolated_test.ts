import assert from "node:assert/strict";
import test from "node:test";
import { type CompressionOptions, EventLoopDelay, loadCodecs, settingsOf } from "../../lib/compression/options.ts";
import { compressReady, compressResponse } from "../../lib/compression/respond.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { asking, CODINGS, textIn, textOf } from "./responses.ts";

/** The time from one measurement to the next, in ms. */
const PERIOD = 100;

test("the event loop is late from 20 ms on, and no longer below 10", () => {
  using clock = new FakeClock();
  const lateness = new EventLoopDelay();
  const seen = [0, 19, 20, 12, 10, 9, 19, 500, 0].map((late) => {
    lateness.isLate();
    clock.block(PERIOD + late);
    return lateness.isLate();
  });
  assert.deepEqual(seen, [false, false, true, true, true, false, false, true, false]);
});

test("lateness is measured while somebody asks, by one timer, and is forgotten when nobody does", () => {
  using clock = new FakeClock();
  const lateness = new EventLoopDelay();
  assert.equal(clock.pending, 0, "a timer runs before it is asked for");
  for (let i = 0; i < 10; i++) lateness.isLate();
  assert.deepEqual([clock.pending, clock.keepingAlive], [1, 0]);
  clock.block(2 * PERIOD);
  assert.equal(clock.pending, 1, "asked for before, it is measured once more");
  clock.block(2 * PERIOD);
  assert.equal(clock.pending, 0, "a timer runs though it is not asked for");
  assert.ok(!lateness.isLate(), "a lateness of old counts");
});

test("with level auto responses take the lowest level while the event loop is late", async () => {
  const page = textOf(40_000).replaceAll(/\d+/g, (digits) => String(Number(digits) * 7919 % 100_003));
  let isLate = false;
  const settings = settingsOf({ level: "auto" }, { isLate: () => isLate });
  await loadCodecs(settings);
  for (const coding of CODINGS) {
    const lengths: number[] = [];
    for (isLate of [false, true, false]) {
      const response = new Response(page, { headers: { "content-type": "text/html" } });
      const compressed = await compressReady(settings, asking(coding), response);
      lengths.push(Number(compressed.headers.get("content-length")));
      assert.equal(await textIn(compressed), page);
    }
    assert.equal(lengths[0], lengths[2]);
    assert.notEqual(lengths[0], lengths[1], coding);
    isLate = true;
    const streamed = new Response(new Blob([page]).stream(), { headers: { "content-type": "text/html" } });
    assert.equal(await textIn(compressResponse(settings, asking(coding), streamed)), page);
  }
});

test("levels that are lower than that stay, and without auto nobody asks", async () => {
  const asked: string[] = [];
  const length = async (options: CompressionOptions): Promise<string | null> => {
    const settings = settingsOf({ codings: ["br"], ...options }, { isLate: () => asked.push("asked") > 0 });
    await loadCodecs(settings);
    const response = new Response(textOf(20_000), { headers: { "content-type": "text/html" } });
    return (await compressReady(settings, asking("br"), response)).headers.get("content-length");
  };
  const lowest = await length({ levels: { br: 0 } });
  assert.deepEqual(asked, []);
  assert.equal(await length({ level: "auto", levels: { br: 0 } }), lowest);
  assert.notEqual(await length({ level: "auto" }), lowest);
  assert.equal(asked.length, 2);
});

test("a level that is not auto is refused in plain words", () => {
  for (const level of [6, "Auto", null]) {
    assert.throws(() => settingsOf({ level } as never), {
      name: "TypeError",
      message: /^level must be "auto" \(use levels/,
    });
  }
});
