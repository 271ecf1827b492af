import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { enqueueAll } from "../../lib/streams/internal.ts";
import { ReadableStream, TransformStream } from "../../lib/streams/mod.ts";
import { isLong, tries } from "../support/long_run.ts";

const nativeGetReader = globalThis.ReadableStream.prototype.getReader;

type Reader = ReadableStreamDefaultReader<number>;
type Open = (stream: ReadableStream<number>) => Reader;

/** The ways of programs to read: by a reader of this package, and by one of the runtime's, to which chunks may be lent. */
const byOurs: Open = (stream) => stream.getReader() as Reader;
const byNative: Open = (stream) => nativeGetReader.call(stream) as Reader;

interface Operation {
  readonly do: "enqueue" | "read" | "open" | "open ours" | "release" | "close" | "error" | "cancel";
  readonly times: number;
}

interface Program {
  readonly highWaterMark: number;
  /** The size that the strategy gives each chunk; the standard's own way of counting if there is none. */
  readonly size: number | undefined;
  /** The number of chunks that a pull enqueues, if the source has a pull. */
  readonly pulled: number | undefined;
  readonly operations: readonly Operation[];
}

const operation = fc.record<Operation>({
  do: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom("enqueue", "read", "read") },
    { weight: 4, arbitrary: fc.constantFrom("open", "open ours", "release") },
    { weight: 1, arbitrary: fc.constantFrom("close", "error", "cancel") },
  ),
  times: fc.integer({ min: 1, max: 5 }),
});

const program = fc.record<Program>({
  highWaterMark: fc.constantFrom(0, 1, 1, 3, 2.5),
  size: fc.constantFrom(undefined, undefined, 2, 0.25),
  pulled: fc.constantFrom(undefined, 1, 3),
  operations: fc.array(operation, { minLength: 10, maxLength: 60 }),
});

/**
 * Runs a program, and returns all events of its source and its readers. After each operation it waits until nothing
 * more happens.
 */
async function events({ highWaterMark, size, pulled, operations }: Program, open: Open): Promise<unknown[]> {
  const seen: unknown[] = [];
  let controller!: ReadableStreamDefaultController<number>;
  let next = 0;
  let pulls = 0;
  const enqueue = (times: number): void => {
    for (let i = 0; i < times; i++) controller.enqueue(next++);
  };
  const pull = (): void => {
    pulls++;
    enqueue(pulled!);
  };
  const stream = new ReadableStream<number>({
    start: (given) => void (controller = given),
    ...pulled === undefined ? {} : { pull },
    cancel: (reason) => void seen.push(["cancelled", reason]),
  }, size === undefined ? { highWaterMark } : { highWaterMark, size: () => size });
  let reader: Reader | undefined;
  /** The number of reads that wait. */
  let waiting = 0;
  /** The end of the reader's stream: the native side may not look at it before a pull. */
  let end: string | undefined;
  let hasRead = false;
  const lock = (locks: Open): void => {
    if (reader !== undefined) return;
    hasRead = false;
    reader = locks(stream);
    end = undefined;
    const { closed } = reader;
    const tell = (how: string): void => void (reader?.closed === closed && (end = how));
    closed.then(() => tell("closed"), (error) => tell((error as Error).name));
  };
  const read = async (): Promise<void> => {
    waiting++;
    hasRead = true;
    try {
      const { done, value } = await reader!.read();
      seen.push(done ? "done" : value);
    } catch (error) {
      seen.push(["refused", (error as Error).name]);
    }
    waiting--;
  };
  const acts: Record<Operation["do"], (times: number) => void> = {
    enqueue,
    read: (times) => {
      for (let i = 0; reader !== undefined && i < times; i++) void read();
    },
    open: () => lock(open),
    "open ours": () => lock(byOurs),
    release: () => {
      if (waiting > 0) return;
      reader?.releaseLock();
      reader = undefined;
    },
    close: () => controller.close(),
    error: () => controller.error(new RangeError("of the source")),
    cancel: () => {
      if (controller.desiredSize !== null) void (reader ?? stream).cancel("enough").catch(() => {});
    },
  };
  for (const { do: name, times } of operations) {
    try {
      acts[name](times);
    } catch (error) {
      seen.push([name, (error as Error).name]);
    }
    for (let i = 0; i < 50; i++) await undefined;
    seen.push([name, pulls, controller.desiredSize, stream.locked, hasRead && end]);
  }
  return seen;
}

test("what a native reader leaves, and what the source sees of it, are as with a reader of ours", async () => {
  await fc.assert(
    fc.asyncProperty(program, async (program) => {
      assert.deepEqual(await events(program, byNative), await events(program, byOurs));
    }),
    { numRuns: isLong ? 2000 : tries(900) },
  );
});

test("chunks that a native reader leaves are read once, in order, by readers of either kind", async () => {
  const stream = new ReadableStream<number>({
    start(controller) {
      for (let i = 0; i < 10; i++) controller.enqueue(i);
      controller.close();
    },
  });
  const read: (number | undefined)[] = [];
  for (let i = 0; i < 11; i++) {
    const reader = [byNative, byNative, byOurs][i % 3](stream);
    read.push((await reader.read()).value);
    reader.releaseLock();
  }
  assert.deepEqual(read, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, undefined]);
});

async function bytesBy(open: Open, stream: ReadableStream): Promise<number[]> {
  const bytes: number[] = [];
  const reader = open(stream) as unknown as ReadableStreamDefaultReader<Uint8Array>;
  for (let result = await reader.read(); !result.done; result = await reader.read()) bytes.push(...result.value);
  return bytes;
}

const left: Readonly<Record<string, UnderlyingByteSource | UnderlyingSource<Uint8Array>>> = {
  "a stream": {},
  "a byte stream": { type: "bytes" },
  "a byte stream that allocates": { type: "bytes", autoAllocateChunkSize: 3 },
};

for (const [name, source] of Object.entries(left)) {
  for (const [kind, next] of Object.entries({ ours: byOurs, "the runtime's": byNative })) {
    test(`${name} keeps what comes after a native reader has left with a read that waits, for one of ${kind}`, async () => {
      let controller!: ReadableStreamDefaultController<Uint8Array>;
      const start = (given: typeof controller): void => void (controller = given);
      const stream = new ReadableStream<number>({ ...source, start } as UnderlyingSource<number>);
      const reader = byNative(stream);
      const reading = reader.read();
      for (let i = 0; i < 20; i++) await undefined;
      reader.releaseLock();
      await assert.rejects(reading, TypeError);
      for (let i = 1; i <= 3; i++) controller.enqueue(Uint8Array.of(i));
      assert.equal(controller.desiredSize, "type" in source ? -3 : -2);
      controller.close();
      assert.deepEqual(await bytesBy(next, stream), [1, 2, 3]);
    });
  }
}

test("a byte stream keeps the answer to a request of a native reader that has left", async () => {
  let controller!: ReadableByteStreamController;
  const stream = new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 3,
    start: (given) => void (controller = given),
  });
  const reader = byNative(stream);
  const reading = reader.read();
  for (let i = 0; i < 20; i++) await undefined;
  reader.releaseLock();
  await assert.rejects(reading, TypeError);
  const request = controller.byobRequest!;
  (request.view as Uint8Array).set([1, 2]);
  request.respond(2);
  controller.enqueue(Uint8Array.of(3));
  controller.close();
  assert.deepEqual(await bytesBy(byOurs, stream), [1, 2, 3]);
});

for (const [when, waits] of [["that waited", true], ["that was queued", false]] as const) {
  test(`a byte stream keeps what a native BYOB reader has not read of a chunk ${when}`, async () => {
    let controller!: ReadableByteStreamController;
    const stream = new ReadableStream({ type: "bytes", start: (given) => void (controller = given) });
    const reader = nativeGetReader.call(stream, { mode: "byob" }) as ReadableStreamBYOBReader;
    if (!waits) controller.enqueue(Uint8Array.of(1, 2, 3, 4, 5));
    const reading = reader.read(new Uint8Array(2));
    for (let i = 0; i < 20; i++) await undefined;
    if (waits) controller.enqueue(Uint8Array.of(1, 2, 3, 4, 5));
    else controller.close();
    assert.deepEqual((await reading).value, Uint8Array.of(1, 2));
    if (waits) assert.equal(controller.desiredSize, -3);
    assert.deepEqual((await reader.read(new Uint16Array(1))).value, new Uint16Array(Uint8Array.of(3, 4).buffer));
    reader.releaseLock();
    if (waits) controller.close();
    assert.deepEqual(await bytesBy(byOurs, stream), [5]);
  });
}

for (const [name, source] of Object.entries(left)) {
  test(`${name} keeps what its source enqueues after a native reader has left in the same pull`, async () => {
    let pulls = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      if (pulls++ > 0) return;
      reader.releaseLock();
      for (let i = 1; i <= 3; i++) controller.enqueue(Uint8Array.of(i));
      controller.close();
    };
    const stream = new ReadableStream<number>({ ...source, pull } as UnderlyingSource<number>, { highWaterMark: 0 });
    const reader = byNative(stream);
    await assert.rejects(reader.read(), TypeError);
    assert.deepEqual(await bytesBy(byOurs, stream), [1, 2, 3]);
  });

  test(`${name} gives a native reader what is buffered, also if it leaves in the pull for more`, async () => {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      controller.enqueue(Uint8Array.of(3));
      controller.close();
      reader.releaseLock();
    };
    const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      controller.enqueue(Uint8Array.of(1));
      controller.enqueue(Uint8Array.of(2));
    };
    const given = { ...source, start, pull } as UnderlyingSource<number>;
    const stream = new ReadableStream<number>(given, { highWaterMark: 2 });
    for (let i = 0; i < 20; i++) await undefined;
    const reader = byNative(stream);
    const { value } = await reader.read();
    assert.deepEqual(value, Uint8Array.of(1));
    assert.deepEqual(await bytesBy(byOurs, stream), [2, 3]);
  });
}

for (const size of [1, 3, 4, 5, 9]) {
  test(`a native BYOB reader of ${size} bytes that leaves in the pull for more leaves the rest in order`, async () => {
    const pull = (controller: ReadableByteStreamController): void => {
      reader.releaseLock();
      controller.enqueue(Uint8Array.of(9));
      controller.close();
    };
    const start = (controller: ReadableByteStreamController): void => {
      for (const [a, b] of [[1, 2], [3, 4], [5, 6], [7, 8]]) controller.enqueue(Uint8Array.of(a!, b!));
    };
    const stream = new ReadableStream({ type: "bytes", start, pull }, { highWaterMark: 8 });
    for (let i = 0; i < 20; i++) await undefined;
    const reader = nativeGetReader.call(stream, { mode: "byob" }) as ReadableStreamBYOBReader;
    const { value } = await reader.read(new Uint8Array(size));
    const bytes = [...value!, ...await bytesBy(byOurs, stream)];
    assert.deepEqual(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
}

test("a source sees that a native reader reads, as far as it has read", async () => {
  let controller!: ReadableStreamDefaultController<number>;
  const stream = new ReadableStream<number>({ start: (given) => void (controller = given) });
  for (let i = 0; i < 5; i++) controller.enqueue(i);
  const reader = byNative(stream);
  const rooms: (number | null)[] = [];
  for (let i = 0; i < 5; i++) {
    await reader.read();
    rooms.push(controller.desiredSize);
  }
  assert.deepEqual(rooms, [-3, -2, -1, 0, 1]);
});

test("a body whose source fails after chunks of it crossed fails with the source's error", async () => {
  const failure = new RangeError("of the source");
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const text = new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).text();
  for (let i = 0; i < 5; i++) controller.enqueue(new Uint8Array([65 + i]));
  for (let i = 0; i < 20; i++) await undefined;
  controller.error(failure);
  await assert.rejects(text, (error) => error === failure);
});

test("the runtime gets chunks of every kind as they are", { skip: !("Bun" in globalThis) }, async () => {
  const { readableStreamToArray } = (globalThis as unknown as {
    Bun: { readableStreamToArray(stream: object): Promise<unknown[]> };
  }).Bun;
  const chunks = [{ a: 1 }, "text", new Uint8Array([1]), undefined, 17, null];
  const stream = new ReadableStream<unknown>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const given = await readableStreamToArray(stream);
  assert.equal(given.length, chunks.length);
  for (const [i, chunk] of given.entries()) assert.equal(chunk, chunks[i]);
});

test("a reader of the runtime's gets chunks that were enqueued many at once", async () => {
  const { readable, writable } = new TransformStream<number[], number>({
    transform: (numbers, controller) => enqueueAll(controller, numbers),
  });
  const writer = writable.getWriter();
  void writer.write([1, 2, 3, 4]);
  void writer.write([5]);
  void writer.close();
  await new Promise((resolve) => setTimeout(resolve)); // until the chunks are buffered
  const reader = nativeGetReader.call(readable) as Reader;
  const chunks: unknown[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  assert.deepEqual(chunks, [1, 2, 3, 4, 5]);
});
