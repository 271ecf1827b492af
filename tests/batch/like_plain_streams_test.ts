import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { BatchedWritableStream } from "../../lib/batch/mod.ts";
import { WritableStream } from "../../lib/streams/mod.ts";
import { microtasks, statusOf, turns } from "./progress.ts";
import { tries } from "../support/long_run.ts";

/**
 * A step of a stream whose sink holds every call. "settle" finishes the sink's current and future calls; "fail" fails
 * the current one.
 */
type Step =
  | { readonly kind: "write"; readonly sizes: readonly number[] }
  | { readonly kind: "close" | "abort" | "error" | "fail" | "settle" | "release" };

interface Strategy {
  readonly highWaterMark: number;
  readonly counts: boolean;
}

/** A stream and the end that the test has of its sink. */
interface Subject {
  readonly stream: globalThis.WritableStream<number>;
  readonly sink: HeldSink;
}

/** Holds writes, in batches or one by one. */
class HeldSink {
  controller: { error(reason: unknown): void } = undefined as never; // set by start()
  readonly written: number[] = [];
  readonly ends: string[] = [];
  #held: PromiseWithResolvers<void> | undefined = undefined;

  readonly start = (controller: { error(reason: unknown): void }): void => void (this.controller = controller);
  readonly write = (chunk: number): Promise<void> => this.#hold([chunk]);
  readonly writev = (chunks: number[]): Promise<void> => this.#hold(chunks);
  readonly close = (): void => void this.ends.push("close");
  readonly abort = (reason: unknown): void => void this.ends.push(`abort ${reason}`);

  async #hold(chunks: readonly number[]): Promise<void> {
    this.#held = Promise.withResolvers();
    await this.#held.promise;
    this.written.push(...chunks);
  }

  async settle(): Promise<void> {
    await turns();
    while (this.#held !== undefined) {
      this.#held.resolve();
      this.#held = undefined;
      await turns();
    }
  }

  async fail(): Promise<void> {
    await turns();
    this.#held?.reject(new Error("of the sink"));
    this.#held = undefined;
    await turns();
  }
}

function strategyOf({ highWaterMark, counts }: Strategy): QueuingStrategy<number> {
  return counts ? { highWaterMark } : { highWaterMark, size: (size) => size! };
}

const makers: Readonly<Record<string, (strategy: Strategy) => Subject>> = {
  "ours": (strategy) => {
    const sink = new HeldSink();
    const { start, write, close, abort } = sink;
    return { sink, stream: new WritableStream<number>({ start, write, close, abort }, strategyOf(strategy)) };
  },
  "the runtime's": (strategy) => {
    const sink = new HeldSink();
    const { start, write, close, abort } = sink;
    return {
      sink,
      stream: new globalThis.WritableStream<number>({ start, write, close, abort }, strategyOf(strategy)),
    };
  },
};

function batched(strategy: Strategy): Subject {
  const sink = new HeldSink();
  const { start, writev, close, abort } = sink;
  return { sink, stream: new BatchedWritableStream<number>({ start, writev, close, abort }, strategyOf(strategy)) };
}

/**
 * All that can be seen of a stream after each step. If it is aborted or errors while something is being written, a plain
 * stream writes one chunk still and a batched one the batch in flight, if any: promises are not looked at after that.
 */
async function observe({ stream, sink }: Subject, steps: readonly Step[]): Promise<unknown[]> {
  const seen: unknown[] = [];
  let writer = stream.getWriter();
  const promises: Promise<unknown>[] = [];
  const add = (promise: Promise<unknown>): void => {
    promise.catch(() => {});
    promises.push(promise);
  };
  let isWriting = false;
  let isMixed = false;
  await microtasks();
  for (const step of steps) {
    if (step.kind === "write") isWriting = true;
    if (step.kind === "settle" || step.kind === "fail") isWriting = false;
    if (step.kind === "abort" || step.kind === "error") isMixed ||= isWriting;
    if (step.kind === "write") {
      for (const size of step.sizes) {
        add(writer.write(size));
        seen.push(writer.desiredSize);
      }
    } else if (step.kind === "close") add(writer.close());
    else if (step.kind === "abort") add(writer.abort(new Error("aborted")));
    else if (step.kind === "error") sink.controller.error(new Error("errored"));
    else if (step.kind === "fail") await sink.fail();
    else if (step.kind === "settle") await sink.settle();
    else {
      writer.releaseLock();
      writer = stream.getWriter();
    }
    seen.push([step.kind, writer.desiredSize, await statusOf(writer.ready)]);
    if (step.kind === "settle" && !isMixed) {
      const statuses = await Promise.all(promises.map(statusOf));
      seen.push([statuses, await statusOf(writer.closed)]);
    }
  }
  return seen;
}

const kinds = fc.constantFrom<Step["kind"]>("close", "abort", "error", "fail", "settle", "settle", "settle", "release");
const sizes = fc.array(fc.constantFrom(1, 1, 0, 0.5, 3), { minLength: 1, maxLength: 8 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("write" as const), sizes }),
  fc.record({ kind: kinds }) as fc.Arbitrary<Step>,
);
const programs = fc.record({
  strategy: fc.record({ highWaterMark: fc.constantFrom(0, 1, 3, 10, Infinity), counts: fc.boolean() }),
  steps: fc.array(step, { maxLength: 12 }),
});

for (const [whose, make] of Object.entries(makers)) {
  it(`desiredSize, ready, closed and promises are those of a plain stream, of ${whose} class`, async () => {
    await fc.assert(
      fc.asyncProperty(programs, async ({ strategy, steps }) => {
        const [plain, ours] = [make(strategy), batched(strategy)];
        const whole: Step[] = [...steps, { kind: "settle" }];
        const [expected, actual] = [await observe(plain, whole), await observe(ours, whole)];
        assert.deepEqual(actual, expected);
      }),
      { numRuns: tries(200) },
    );
  });
}
