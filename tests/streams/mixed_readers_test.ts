import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { tries } from "../support/long_run.ts";
import { turn } from "../support/waits.ts";

const nativeGetReader = globalThis.ReadableStream.prototype.getReader;

/** The steps of one call of `pull()`, in this order. */
interface Pull {
  readonly waits: boolean;
  /** Whether the reader of the time leaves before the source enqueues anything, or thereafter. */
  readonly leaves: "no" | "before" | "after";
  /** The sizes of the chunks. */
  readonly chunks: readonly number[];
  /** Whether the first one is written to the view of the BYOB request, if there is one. */
  readonly responds: boolean;
}

/** A reader, and its actions before it releases the stream. */
interface Visit {
  readonly by: "native" | "ours";
  /** The size of the views that it passes; undefined for a default reader. */
  readonly view: number | undefined;
  /** Whether each read is awaited before the next one. */
  readonly awaits: readonly boolean[];
}

interface Program {
  readonly isBytes: boolean;
  readonly highWaterMark: number;
  readonly started: readonly number[];
  readonly pulls: readonly Pull[];
  readonly visits: readonly Visit[];
}

const sizes = fc.array(fc.constantFrom(1, 1, 2, 3, 5, 8), { maxLength: 4 });

const programs: fc.Arbitrary<Program> = fc.record({
  isBytes: fc.boolean(),
  highWaterMark: fc.constantFrom(0, 0, 1, 4, 8, 64),
  started: sizes,
  pulls: fc.array(
    fc.record({
      waits: fc.boolean(),
      leaves: fc.constantFrom<Pull["leaves"]>("no", "no", "before", "after"),
      chunks: sizes,
      responds: fc.boolean(),
    }),
    { maxLength: 8 },
  ),
  visits: fc.array(
    fc.record({
      by: fc.constantFrom<Visit["by"]>("native", "native", "ours"),
      view: fc.constantFrom(undefined, 1, 2, 3, 5, 8, 64),
      awaits: fc.array(fc.boolean(), { maxLength: 4 }),
    }),
    { maxLength: 6 },
  ),
});

type Controller = ReadableByteStreamController;
type Reader = ReadableStreamDefaultReader<Uint8Array> & ReadableStreamBYOBReader;

/** A source of the numbers from 0 on. */
class Source {
  count = 0;
  reader: Reader | undefined;
  /** Whether the reader passes views. By the standard, a view that was left gives nothing to a default read that waits. */
  fillsViews = false;
  readonly #program: Program;
  #next = 0;

  constructor(program: Program) {
    this.#program = program;
  }

  start(controller: Controller): void {
    for (const size of this.#program.started) this.#enqueue(controller, size);
  }

  pull(controller: Controller): Promise<void> | void {
    const pull = this.#program.pulls[this.#next++];
    if (pull === undefined) {
      controller.close();
      controller.byobRequest?.respond(0);
      return;
    }
    if (pull.waits) return Promise.resolve().then(() => this.#run(controller, pull));
    this.#run(controller, pull);
    return pull.chunks.length === 0 ? Promise.resolve() : undefined;
  }

  #run(controller: Controller, { chunks, leaves, responds }: Pull): void {
    if (leaves === "before") this.reader?.releaseLock();
    for (const [i, size] of chunks.entries()) {
      const view = responds && this.fillsViews && i === 0
        ? controller.byobRequest?.view as Uint8Array | undefined
        : undefined;
      if (view) {
        view[0] = this.count++;
        controller.byobRequest!.respond(1);
      } else {
        this.#enqueue(controller, size);
      }
    }
    // A pull that gives nothing would not be repeated.
    if (chunks.length === 0) this.#enqueue(controller, 1);
    if (leaves === "after") this.reader?.releaseLock();
  }

  #enqueue(controller: Controller, size: number): void {
    controller.enqueue(Uint8Array.from({ length: size }, () => this.count++));
  }
}

async function turns(): Promise<void> {
  for (let left = 3; left > 0; left--) await turn();
}

async function run(program: Program): Promise<void> {
  const source = new Source(program);
  const { highWaterMark, isBytes, visits } = program;
  const stream = new ReadableStream<Uint8Array>({
    type: isBytes ? "bytes" : undefined,
    start: (controller: Controller) => source.start(controller),
    pull: (controller: Controller) => source.pull(controller),
  } as UnderlyingDefaultSource<Uint8Array>, { highWaterMark });
  const got: number[] = [];
  const rest: Visit = { by: "ours", view: undefined, awaits: [] };
  for (const { awaits, by, view } of [...visits, rest]) {
    const isLast = awaits === rest.awaits;
    const mode = isBytes && view !== undefined ? { mode: "byob" } as const : undefined;
    const reader = (by === "ours" ? stream.getReader(mode!) : nativeGetReader.call(stream, mode!)) as Reader;
    reader.closed.catch(() => {});
    source.reader = isLast ? undefined : reader;
    source.fillsViews = mode !== undefined;
    const reads: Promise<Uint8Array | undefined>[] = [];
    const read = (): Promise<Uint8Array | undefined> => {
      const reading = mode ? reader.read(new Uint8Array(view!)) : reader.read();
      const outcome = reading.then(({ value }) => value, (error) => void assert.ok(error instanceof TypeError));
      reads.push(outcome as Promise<Uint8Array | undefined>);
      return outcome as Promise<Uint8Array | undefined>;
    };
    for (const waits of awaits) {
      const reading = read();
      // By the standard, nothing is pulled for a BYOB read behind one that was left before the source had started.
      if (waits) await Promise.race([reading, turns()]);
    }
    if (isLast) { while (await read() !== undefined); }
    reader.releaseLock();
    for (const value of await Promise.all(reads)) got.push(...value ?? []);
  }
  assert.deepEqual(got, Array.from({ length: source.count }, (_, i) => i));
}

test("random programs: readers of both kinds that come and go leave no byte out, and keep the order", {
  timeout: 600_000,
}, async () => {
  await fc.assert(fc.asyncProperty(programs, run), { numRuns: tries(6000) });
});
