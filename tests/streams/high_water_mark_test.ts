import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { currentPause } from "../../lib/streams/shortcuts/task.ts";
import { tries } from "../support/long_run.ts";
import { pause, turn } from "../support/waits.ts";
import { mixedSets, nativeSet, ourSet, type StreamSet } from "./stream_sets.ts";

/** A queue's high-water mark: in chunks, or in bytes. */
interface Mark {
  readonly bytes: boolean;
  readonly value: number;
}

/** A source, transforms and a slow sink: how they are made and fed. */
interface Plan {
  readonly chunkSize: number;
  /** Chunks that the source enqueues at a pull. */
  readonly burst: number;
  readonly sourceWaits: boolean;
  readonly chunks: number;
  readonly source: Mark;
  readonly transforms: readonly { readonly writable: Mark; readonly readable: Mark; readonly waits: boolean }[];
  readonly sink: Mark;
}

const readableMark = fc.record({ bytes: fc.boolean(), value: fc.nat(6) });
// A writable stream of mark 0 never has room, and a pipe never writes to it.
const writableMark = fc.record({ bytes: fc.boolean(), value: fc.integer({ min: 1, max: 6 }) });

const plans: fc.Arbitrary<Plan> = fc.record({
  chunkSize: fc.integer({ min: 1, max: 3 }),
  burst: fc.integer({ min: 1, max: 3 }),
  sourceWaits: fc.boolean(),
  chunks: fc.integer({ min: 10, max: 150 }),
  source: readableMark,
  transforms: fc.array(fc.record({ writable: writableMark, readable: readableMark, waits: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  }),
  sink: writableMark,
});

/**
 * Returns the number of chunks that a queue may hold: it takes one more as long as its size is below its mark. The
 * chunk that a sink or transformer is at work on counts as held.
 */
function capacity({ bytes, value }: Mark, chunkSize: number): number {
  return bytes ? Math.ceil(value / chunkSize) : value;
}

/**
 * Returns the number of chunks that may be between the source and the end of the sink's write() at once. Each of the
 * queues may hold some, and a burst brings more than one chunk. A pipe itself holds none: it reads when there is room
 * for what it reads.
 */
function bound({ source, transforms, sink, chunkSize, burst }: Plan): number {
  const marks = [source, sink, ...transforms.flatMap(({ writable, readable }) => [writable, readable])];
  return marks.reduce((sum, mark) => sum + capacity(mark, chunkSize), 0) + burst - 1;
}

function strategy({ bytes, value }: Mark): QueuingStrategy<Uint8Array> {
  return bytes ? new ByteLengthQueuingStrategy({ highWaterMark: value }) : { highWaterMark: value };
}

interface Observed {
  /** The chunks in flight whenever nothing moves any more, before each end of a write(). */
  readonly resting: number[];
  /** The most at any time. */
  readonly most: number;
  readonly arrived: number[];
}

/** Waits for the end of the turn, and of a pause of long pipes, which comes by time: on a busy machine at any chunk. */
async function quiet(): Promise<void> {
  do await turn(); while (currentPause() !== 0);
}

/** Runs a plan to its end, one write() after the other, and counts the chunks in transit. */
async function observe(plan: Plan, set: StreamSet): Promise<Observed> {
  const [resting, arrived]: number[][] = [[], []];
  let [produced, written, most] = [0, 0, 0];
  let finishWrite: (() => void) | undefined;
  const source = new set.ReadableStream<Uint8Array>({
    async pull(controller): Promise<void> {
      if (plan.sourceWaits) await undefined;
      for (let left = plan.burst; left > 0 && produced < plan.chunks; left--) {
        controller.enqueue(new Uint8Array(plan.chunkSize).fill(produced++));
        most = Math.max(most, produced - written);
      }
      if (produced === plan.chunks) controller.close();
    },
  }, strategy(plan.source));
  let end: ReadableStream<Uint8Array> = source;
  for (const { writable, readable, waits } of plan.transforms) {
    const transform = new set.TransformStream<Uint8Array, Uint8Array>(
      {
        transform: waits ? passOnLater : passOn,
      },
      strategy(writable),
      strategy(readable),
    );
    end = set.pipeThrough(end, transform);
  }
  const sink = new set.WritableStream<Uint8Array>({
    write: (chunk) =>
      new Promise<void>((resolve) => {
        finishWrite = (): void => {
          finishWrite = undefined;
          written++;
          arrived.push(chunk[0]);
          resolve();
        };
      }),
  }, strategy(plan.sink));
  const piped = set.pipeTo(end, sink);
  for (await quiet(); finishWrite !== undefined; await quiet()) {
    resting.push(produced - written);
    finishWrite();
  }
  await piped;
  return { resting, most, arrived };
}

function passOn(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): void {
  controller.enqueue(chunk);
}

async function passOnLater(chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>): Promise<void> {
  await undefined;
  controller.enqueue(chunk);
}

async function staysWithin(plan: Plan, set: StreamSet): Promise<void> {
  const expected = await observe(plan, nativeSet);
  const observed = await observe(plan, set);
  assert.deepEqual(
    observed.arrived,
    Array.from({ length: plan.chunks }, (_, at) => at),
    "every chunk arrives, in order",
  );
  assert.ok(observed.most <= bound(plan), `${observed.most} chunks in flight where the marks allow ${bound(plan)}`);
  assert.deepEqual(
    observed.resting,
    expected.resting,
    "as many chunks wait in front of the sink as with native streams",
  );
}

for (const set of [nativeSet, ourSet, ...mixedSets]) {
  it(`${set.name} never have more chunks in flight than the high-water marks allow`, async () => {
    await fc.assert(fc.asyncProperty(plans, (plan) => staysWithin(plan, set)), { numRuns: tries(120) });
  });
}

const nativeIntoOurs = { ...ourSet, name: "our sinks and native pipes", ReadableStream: nativeSet.ReadableStream };

for (const set of [nativeSet, ourSet, nativeIntoOurs, ...mixedSets]) {
  it(`a pipe never writes to a stream whose mark is 0, nor closes it: ${set.name}`, async () => {
    const seen: unknown[] = [];
    const sink = { write: () => void seen.push("write"), close: () => void seen.push("close") };
    const batches = { writev: () => void seen.push("writev"), close: () => void seen.push("close") };
    const through = { transform: () => void seen.push("transform"), flush: () => void seen.push("flush") };
    const ends: WritableStream[] = [
      new set.WritableStream(sink, { highWaterMark: 0 }),
      new set.WritableStream(sink, { highWaterMark: 0, size: () => 0.5 }),
      new set.TransformStream(through, { highWaterMark: 0 }, { highWaterMark: 1 }).writable,
      new BatchedWritableStream(batches, { highWaterMark: 0 }) as WritableStream,
    ];
    for (const end of ends) {
      for (const chunks of [[1, 2], []]) {
        const source = new set.ReadableStream({
          pull: (controller) => chunks.length > 0 ? controller.enqueue(chunks.pop()) : controller.close(),
        }, { highWaterMark: 0 });
        const stop = new AbortController();
        const options = { signal: stop.signal, preventAbort: true, preventCancel: true };
        const piped = set.pipeTo(source, end, options).then(() => seen.push("piped"), () => "stopped");
        await pause(2);
        stop.abort();
        assert.deepEqual([await piped, seen], ["stopped", []]);
      }
    }
  });
}

it("a chain at rest in front of a stalled sink is exactly full", async () => {
  const mark: Mark = { bytes: false, value: 2 };
  const transforms = Array.from({ length: 8 }, () => ({ writable: mark, readable: mark, waits: false }));
  const plan: Plan = { chunkSize: 1, burst: 1, sourceWaits: false, chunks: 60, source: mark, transforms, sink: mark };
  const { resting, most } = await observe(plan, ourSet);
  assert.equal(bound(plan), 36);
  assert.equal(resting[0], 36);
  assert.equal(most, 36);
});
