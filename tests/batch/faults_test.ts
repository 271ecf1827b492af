import assert from "node:assert/strict";
import { it } from "node:test";
import type { ManualSink } from "./manual_sink.ts";
import { type Point, points, type Scene } from "./points.ts";
import { statusOf, turn } from "./progress.ts";

/** The outcome of the current call after the fault. */
type End = "succeeds" | "fails";

const boom = new Error("boom");
const reason = new Error("reason");

/** Returns the outcomes as `Outcomes.all` has them. */
function outcomesOf(groups: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  const outcomes: Record<string, string> = {};
  for (const [outcome, names] of Object.entries(groups)) {
    if (names.length > 0) outcomes[outcome] = names.join(" ");
  }
  return outcomes;
}

/** Predicts the outcomes of all writes, and of the close, on a stream that failed with `error`. */
function afterFailure(
  { acknowledged, inFlight, waiting, busy, isClosing }: Point,
  error: Error,
  end: End,
): Record<string, string> {
  const close = isClosing ? ["close"] : [];
  if (busy === "close" && end === "succeeds") return outcomesOf({ fulfilled: [...acknowledged, "close"] });
  if (end === "succeeds") {
    return outcomesOf({ fulfilled: [...acknowledged, ...inFlight], [`rejected: ${error}`]: [...waiting, ...close] });
  }
  const [ofBoom, others] = busy === "close" ? [close, []] : [inFlight, [...waiting, ...close]];
  if (error === boom) return outcomesOf({ fulfilled: acknowledged, "rejected: Error: boom": [...ofBoom, ...others] });
  return outcomesOf({ fulfilled: acknowledged, "rejected: Error: boom": ofBoom, [`rejected: ${error}`]: others });
}

function endCall(sink: ManualSink, end: End): void {
  if (end === "succeeds") sink.succeed();
  else sink.fail(boom);
}

async function assertErrored({ writer }: Scene, error: unknown): Promise<void> {
  assert.equal(writer.desiredSize, null);
  await assert.rejects(writer.ready, error as Error);
  await assert.rejects(writer.closed, error as Error);
  await assert.rejects(writer.write(99), error as Error);
  await assert.rejects(writer.close(), TypeError);
  assert.equal(await statusOf(writer.abort()), "fulfilled");
}

async function assertClosed({ writer }: Scene): Promise<void> {
  assert.equal(writer.desiredSize, 0);
  await writer.closed;
  await assert.rejects(writer.write(99), TypeError);
  await assert.rejects(writer.close(), TypeError);
  assert.equal(await statusOf(writer.abort()), "fulfilled");
}

/** A chunk that is written at this point, and then all goes well. */
for (const point of points.filter(({ isClosing }) => !isClosing)) {
  it(`close() ${point.name} waits for everything that was written, then closes the sink once`, async () => {
    const scene = await point.reach();
    const { sink, writer, outcomes } = scene;
    outcomes.watch("close", writer.close());
    assert.equal(await statusOf(writer.ready), "fulfilled");
    for (let calls = 0; calls < 4; calls++) {
      await turn();
      if (!sink.isBusy) continue;
      assert.equal(outcomes.of("close"), "pending");
      assert.ok(!sink.log.includes("close"));
      sink.succeed();
    }
    await turn();
    assert.deepEqual(outcomes.all, {
      fulfilled: [...point.acknowledged, ...point.inFlight, ...point.waiting, "close"].join(" "),
    });
    assert.equal(sink.log.at(-1), "close");
    assert.deepEqual(sink.batches.flat().map(String), [...point.acknowledged, ...point.inFlight, ...point.waiting]);
    await assertClosed(scene);
    await turn();
    assert.equal(sink.log.filter((call) => call === "close").length, 1);
  });
}

const ends: readonly End[] = ["succeeds", "fails"];

for (const point of points) {
  for (const end of point.busy === undefined ? ends.slice(0, 1) : ends) {
    const and = point.busy === undefined ? "" : `, and ${point.busy}() ${end}`;
    const closesAll = point.busy === "close";

    it(`abort() ${point.name}${and}: tells the sink once, and rejects what was not acknowledged`, async () => {
      const scene = await point.reach();
      const { sink, writer, outcomes } = scene;
      const aborted = writer.abort(reason);
      assert.equal(sink.controller.signal.aborted, true);
      assert.equal(sink.controller.signal.reason, reason);
      assert.equal(writer.desiredSize, null);
      await assert.rejects(writer.ready, reason);
      await assert.rejects(writer.write(99), point.isClosing ? Error : reason);
      if (point.busy !== undefined) assert.equal(writer.abort(new Error("another")), aborted);
      await turn();
      if (point.busy !== undefined) {
        assert.deepEqual(sink.log, point.log);
        assert.equal(await statusOf(aborted), "pending");
        endCall(sink, end);
        await turn();
      }
      assert.deepEqual(outcomes.all, afterFailure(point, reason, end));
      assert.deepEqual(sink.log, closesAll ? point.log : [...point.log, "abort Error: reason"]);
      assert.equal(await statusOf(aborted), closesAll && end === "fails" ? "rejected" : "fulfilled");
      if (closesAll && end === "succeeds") await assertClosed(scene);
      else await assertErrored(scene, reason);
      assert.equal(sink.log.length, closesAll ? point.log.length : point.log.length + 1);
    });

    it(`controller.error() ${point.name}${and}: rejects what was not acknowledged, calls nothing`, async () => {
      const scene = await point.reach();
      const { sink, writer, outcomes } = scene;
      sink.controller.error(reason);
      assert.equal(sink.controller.signal.aborted, false);
      assert.equal(writer.desiredSize, null);
      await assert.rejects(writer.ready, reason);
      await turn();
      if (point.busy !== undefined) endCall(sink, end);
      await turn();
      assert.deepEqual(outcomes.all, afterFailure(point, reason, end));
      assert.deepEqual(sink.log, point.log);
      if (closesAll && end === "succeeds") await assertClosed(scene);
      else await assertErrored(scene, reason);
      assert.deepEqual(sink.log, point.log);
    });
  }
}

for (const point of points.filter(({ busy }) => busy !== undefined)) {
  it(`${point.busy}() fails ${point.name}: rejects what was not acknowledged, calls nothing`, async () => {
    const scene = await point.reach();
    const { sink, outcomes } = scene;
    sink.fail(boom);
    await turn();
    assert.deepEqual(outcomes.all, afterFailure(point, boom, "fails"));
    assert.deepEqual(sink.log, point.log);
    assert.equal(sink.controller.signal.aborted, false);
    await assertErrored(scene, boom);
    await turn();
    assert.deepEqual(sink.log, point.log);
  });
}
