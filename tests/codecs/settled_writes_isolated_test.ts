import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test, { after, mock } from "node:test";
import fc from "fast-check";
import { openEncoder } from "../../lib/codecs/internal.ts";
import { CompressionStream, compressSync, DecompressionStream, decompressSync, ready } from "../../lib/codecs/mod.ts";
import { TransformStream } from "../../lib/streams/mod.ts";

function joined(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(pieces));
}

interface Pair {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

type Step = { readonly write: Uint8Array } | "read" | "close" | "cancel"; // an abort ends a write at once, where a TransformStream's waits

const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ write: fc.uint8Array({ minLength: 1, maxLength: 300 }) }) },
    { weight: 8, arbitrary: fc.constant<Step>("read") },
    { weight: 1, arbitrary: fc.constantFrom<Step>("close", "cancel") },
  ),
  { maxLength: 30 },
);

/** Returns the standard's stream: a transformer that enqueues, and returns. Each write gives one chunk. */
function plainTransform(): Pair {
  const encoder = openEncoder("gzip", { level: 1 });
  return new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => controller.enqueue(joined([...encoder.write(chunk), ...encoder.flush()])),
    flush: (controller) => controller.enqueue(joined(encoder.finish())),
  }) as unknown as Pair;
}

/** A program's writes and reads, with their outcomes so far. */
class Run {
  readonly outcomes: string[] = [];
  readonly chunks: Uint8Array[] = [];
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor({ readable, writable }: Pair) {
    this.#writer = writable.getWriter();
    this.#reader = readable.getReader();
    for (const { closed } of [this.#writer, this.#reader]) closed.catch(() => {});
    this.#writer.ready.catch(() => {});
  }

  take(step: Step): void {
    if (step === "read") return this.#note("read", this.#reader.read(), ({ done, value }) => this.#taken(done, value));
    if (step === "close") return this.#note(step, this.#writer.close());
    if (step === "cancel") return this.#note(step, this.#reader.cancel(new Error("not wanted")));
    this.#note("write", this.#writer.write(step.write));
  }

  #taken(done: boolean, value: Uint8Array | undefined): string {
    if (value) this.chunks.push(value);
    return done ? "the end" : "a chunk";
  }

  #note<T>(what: string, promise: Promise<T>, say: (value: T) => string = () => "done"): void {
    const index = this.outcomes.push(`${what}: waits`) - 1;
    promise.then(
      (value) => this.outcomes[index] = `${what}: ${say(value)}`,
      () => this.outcomes[index] = `${what}: fails`,
    );
  }
}

/** The clock stands still: a long chunk would otherwise leave a turn to other work. */
const clock = mock.method(performance, "now", () => 0);
after(() => clock.mock.restore());

async function microtasks(): Promise<void> {
  for (let i = 0; i < 40; i++) await undefined;
}

test("writes, reads and closes of a CompressionStream settle when those of a plain TransformStream do", async () => {
  await ready(["gzip"]);
  await fc.assert(
    fc.asyncProperty(steps, async (program) => {
      const ours = new Run(new CompressionStream("gzip", { level: 1, flush: true }) as unknown as Pair);
      const model = new Run(plainTransform());
      await microtasks();
      for (const step of program) {
        ours.take(step);
        model.take(step);
        await microtasks();
        assert.deepEqual(ours.outcomes, model.outcomes);
      }
    }),
    { numRuns: 300 },
  );
});

test("a write of any size waits only while no read does, and all of it arrives, however it is cut", async () => {
  await ready(["zstd"]);
  const whole = new Uint8Array(700_000).map((_, index) => index < 500_000 ? 0 : (index * index) >>> 5);
  const packed = compressSync(whole, { format: "zstd", level: 1 });
  const cuts = fc.array(fc.integer({ min: 0, max: packed.length }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(cuts, fc.array(fc.boolean(), { maxLength: 40 }), async (cuts, order) => {
      const ours = new Run(new DecompressionStream("zstd") as unknown as Pair);
      const ends = [...new Set(cuts)].sort((a, b) => a - b).concat(packed.length);
      await microtasks();
      for (let write = 0, start = 0, turn = 0; !ours.outcomes.includes("read: the end"); turn++) {
        if ((order[turn] ?? write > ends.length) || write > ends.length) ours.take("read");
        else if (write++ < ends.length) ours.take({ write: packed.subarray(start, start = ends[write - 1]) });
        else ours.take("close");
        await microtasks();
        const waits = (what: string): boolean => ours.outcomes.includes(`${what}: waits`);
        assert.ok(!waits("read") || !(waits("write") || waits("close")), ours.outcomes.join(", "));
      }
      assert.deepEqual(joined(ours.chunks), whole);
    }),
    { numRuns: 50 },
  );
});

for (
  const [what, cut] of Object.entries({
    transferred: (buffer: ArrayBuffer): unknown => globalThis.structuredClone(buffer, { transfer: [buffer] }),
    "made smaller": (buffer: ArrayBuffer): unknown => buffer.resize(300_000),
  })
) {
  test(`a chunk whose buffer is ${what} during the write arrives as it was written`, async () => {
    await ready(["deflate"]);
    const chunk = new Uint8Array(new ArrayBuffer(600_000, { maxByteLength: 600_000 }));
    for (let i = 0; i < chunk.length; i++) chunk[i] = Math.imul(i, 2654435761) >>> 13;
    const { readable, writable } = new CompressionStream("deflate", { level: 1 });
    const writer = writable.getWriter();
    const expected = chunk.slice();
    const written = Promise.all([writer.write(chunk), writer.close()]);
    const reader = readable.getReader();
    const pieces = [(await reader.read()).value!];
    cut(chunk.buffer);
    for (let read = await reader.read(); !read.done; read = await reader.read()) pieces.push(read.value);
    await written;
    assert.deepEqual(decompressSync(joined(pieces), { format: "deflate" }), expected);
  });
}

test("what a CompressionStream writes while reads wait is what was written", async () => {
  await ready(["brotli"]);
  const { readable, writable } = new CompressionStream("brotli", { level: 4, flush: true });
  const [writer, reader] = [writable.getWriter(), readable.getReader()];
  const chunks: Uint8Array[] = [];
  for (let i = 0; i < 3; i++) {
    const reading = reader.read();
    await writer.write(new Uint8Array([i]));
    chunks.push((await reading).value!);
  }
  const reading = reader.read();
  await writer.close();
  chunks.push((await reading).value!);
  assert.deepEqual(decompressSync(joined(chunks), { format: "brotli" }), new Uint8Array([0, 1, 2]));
});
