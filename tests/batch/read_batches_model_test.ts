import assert from "node:assert/strict";
import { it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { readBatches, type ReadBatchesOptions } from "../../lib/batch/mod.ts";
import { ReadableStream as Ours, TransformStream as OurTransform } from "../../lib/streams/mod.ts";
import { tries } from "../support/long_run.ts";

/** A call of the source's `pull()`: it waits, then enqueues. */
interface Pull {
  readonly microtasks: number;
  readonly turns: number;
  readonly chunks: number;
}

interface Program {
  readonly isNative: boolean;
  readonly isBytes: boolean;
  readonly hops: number;
  readonly highWaterMark: number;
  readonly queuedAtStart: number;
  readonly pulls: readonly Pull[];
  readonly end: "closes" | "errors";
  readonly limits: ReadBatchesOptions;
  /** Microtasks and turns that the consumer takes for a batch, again and again. */
  readonly pauses: readonly { readonly microtasks: number; readonly turns: number }[];
  /** The way in which the loop is left before the end, and the number of batches before. */
  readonly leaving: "not" | "returns" | "prevents cancel" | "aborts" | "aborts while it waits";
  readonly leavesAfter: number;
}

const programs: fc.Arbitrary<Program> = fc.record({
  isNative: fc.boolean(),
  isBytes: fc.boolean(),
  hops: fc.constantFrom(0, 0, 1),
  highWaterMark: fc.constantFrom(0, 1, 2, 16, 100),
  queuedAtStart: fc.constantFrom(0, 0, 1, 7, 40),
  pulls: fc.array(
    fc.record({
      microtasks: fc.constantFrom(0, 0, 1, 2, 9),
      turns: fc.constantFrom(0, 0, 0, 0, 1, 2),
      chunks: fc.constantFrom(1, 1, 2, 30),
    }),
    { maxLength: 30 },
  ),
  end: fc.constantFrom("closes", "closes", "errors"),
  limits: fc.record({
    maxChunks: fc.constantFrom(1, 3, 20, 1024, Infinity),
    maxBytes: fc.constantFrom(1, 8, 64, 262_144, Infinity),
  }),
  pauses: fc.array(fc.record({ microtasks: fc.constantFrom(0, 0, 1, 5), turns: fc.constantFrom(0, 0, 0, 1) }), {
    minLength: 1,
    maxLength: 4,
  }),
  leaving: fc.constantFrom("not", "not", "returns", "prevents cancel", "aborts", "aborts while it waits"),
  leavesAfter: fc.nat(6),
});

const BYTES = 4;
const FAULT = new Error("the source fails");
const ABORT = new Error("the consumer aborts");

type Chunk = Uint8Array;

async function wait({ microtasks, turns }: { readonly microtasks: number; readonly turns: number }): Promise<void> {
  for (let i = 0; i < turns; i++) await turn();
  for (let i = 0; i < microtasks; i++) await undefined;
}

/** A stream of numbered chunks, with its state. */
class Source {
  made = 0;
  hasFailed = false;
  cancelled: unknown[] = [];
  readonly stream: globalThis.ReadableStream<Chunk>;

  constructor({ isNative, isBytes, hops, highWaterMark, queuedAtStart, pulls, end }: Program) {
    let next = 0;
    const source: UnderlyingDefaultSource<Chunk> = {
      start: (controller) => this.#enqueue(controller, queuedAtStart),
      pull: (controller) => {
        const pull = pulls[next++];
        if (pull === undefined) return this.#end(controller, end);
        if (pull.microtasks + pull.turns === 0) return this.#enqueue(controller, pull.chunks);
        return wait(pull).then(() => this.#enqueue(controller, pull.chunks));
      },
      cancel: (reason) => void this.cancelled.push(reason),
    };
    const ReadableStream = isNative ? globalThis.ReadableStream : Ours as unknown as typeof globalThis.ReadableStream;
    const Transform = isNative ? globalThis.TransformStream : OurTransform;
    let stream: globalThis.ReadableStream<Chunk> = isBytes
      ? new ReadableStream({ ...source, type: "bytes" } as never, { highWaterMark: highWaterMark * BYTES })
      : new ReadableStream(source, { highWaterMark });
    for (let i = 0; i < hops; i++) stream = stream.pipeThrough(new Transform<Chunk, Chunk>() as never);
    this.stream = stream;
  }

  #enqueue(controller: ReadableStreamDefaultController<Chunk>, count: number): void {
    if (this.cancelled.length > 0) return;
    for (let i = 0; i < count; i++) {
      const chunk = new Uint8Array(BYTES);
      new DataView(chunk.buffer).setUint32(0, this.made++);
      controller.enqueue(chunk);
    }
  }

  #end(controller: ReadableStreamDefaultController<Chunk>, end: Program["end"]): void {
    if (this.cancelled.length > 0) return;
    this.hasFailed = end === "errors";
    if (this.hasFailed) return controller.error(FAULT);
    controller.close();
    (controller as Partial<ReadableByteStreamController>).byobRequest?.respond(0);
  }
}

function numberOf(chunk: Chunk): number {
  return new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength).getUint32(0);
}

async function run(program: Program): Promise<void> {
  const { limits, leaving, leavesAfter, pauses } = program;
  const source = new Source(program);
  const abort = new AbortController();
  const batches = readBatches(source.stream, {
    ...limits,
    preventCancel: leaving === "prevents cancel",
    signal: abort.signal,
  });
  const got: number[] = [];
  let failure: unknown;
  let count = 0;
  let hasLeft = false;
  try {
    if (leavesAfter === 0 && leaving === "aborts while it waits") setImmediate(() => abort.abort(ABORT));
    for await (const batch of batches) {
      assert.ok(batch.length > 0 && batch.length <= limits.maxChunks!);
      assert.ok((batch.length - 1) * BYTES < limits.maxBytes!);
      got.push(...batch.map(numberOf));
      await wait(pauses[count++ % pauses.length]);
      hasLeft = count > leavesAfter && leaving !== "not";
      if (hasLeft && (leaving === "returns" || leaving === "prevents cancel")) break;
      if (hasLeft && leaving === "aborts") abort.abort(ABORT);
      if (hasLeft && leaving === "aborts while it waits") queueMicrotask(() => abort.abort(ABORT));
    }
  } catch (error) {
    failure = error;
  }
  assert.equal(source.stream.locked, false);
  if (leaving === "prevents cancel" && hasLeft) {
    const reader = source.stream.getReader();
    try {
      for (let step = await reader.read(); !step.done; step = await reader.read()) got.push(numberOf(step.value));
    } catch (error) {
      failure = error;
    }
  }
  assert.deepEqual(got, Array.from(got, (_, i) => i), "every chunk once, and in order");
  if (abort.signal.aborted && failure === ABORT) {
    await turn();
    assert.ok(source.hasFailed || source.cancelled.length <= 1);
    if (program.hops === 0) { for (const reason of source.cancelled) assert.equal(reason, ABORT); }
  } else if (failure !== undefined) {
    assert.equal(failure, FAULT);
    assert.ok(source.hasFailed);
  } else if (hasLeft && leaving === "returns") {
    if (program.hops === 0) { for (const reason of source.cancelled) assert.equal(reason, undefined); }
  } else {
    assert.ok(!source.hasFailed, "an error is not swallowed");
    assert.equal(got.length, source.made, "no chunk is lost");
    assert.deepEqual(source.cancelled, []);
  }
}

it("random programs: every chunk comes once and in order, within the limits, and ends come after", async () => {
  await fc.assert(fc.asyncProperty(programs, run), { numRuns: tries(2000) });
});
