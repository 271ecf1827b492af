import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import test from "node:test";
import fc from "fast-check";
import { ReadableStream, WritableStream } from "../../lib/streams/mod.ts";
import { LineToNumberStream, NumberToLineStream } from "../../lib/text/mod.ts";
import { cutAt, places, through } from "./chunkings.ts";
import { tries } from "../support/long_run.ts";

async function linesOf(numbers: readonly unknown[]): Promise<string> {
  const chunks = await through(numbers as number[], new NumberToLineStream()) as Uint8Array<ArrayBuffer>[];
  return new TextDecoder().decode(await new Blob(chunks).arrayBuffer());
}

const safe = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer(),
  fc.double({ noNaN: true, min: -(2 ** 53 - 1), max: 2 ** 53 - 1 }).map((number) => number + 0), // no -0
);

test("NumberToLineStream writes lines that LineToNumberStream reads back", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(safe), places, async (numbers, places) => {
      const text = numbers.map((number) => `${number}\n`).join("");
      assert.equal(await linesOf(numbers), text);
      const chunks = cutAt(new TextEncoder().encode(text), places);
      assert.deepEqual(await through(chunks, new LineToNumberStream()), numbers);
    }),
    { numRuns: tries(300) },
  );
});

test("NumberToLineStream gives what queued up as one chunk, whoever writes it", async () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index * 1000);
  const text = numbers.map((number) => `${number}\n`).join("");
  const stream = new NumberToLineStream();
  const writer = stream.writable.getWriter();
  const written = Promise.all([...numbers.map((number) => writer.write(number)), writer.close()]);
  const chunks = await Array.fromAsync(stream.readable);
  await written;
  assert.ok(chunks.length <= 4, `${chunks.length} chunks`);
  assert.equal(new TextDecoder().decode(await new Blob(chunks).arrayBuffer()), text);
});

test("NumberToLineStream keeps chunks apart: none changes after it was given", async () => {
  const stream = new NumberToLineStream();
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  const read = async (): Promise<Uint8Array> => (await reader.read()).value!;
  const chunks: Uint8Array[] = [];
  for (const number of [11, 22]) {
    void writer.write(number);
    chunks.push(await read());
  }
  assert.deepEqual(chunks.map((chunk) => new TextDecoder().decode(chunk)), ["11\n", "22\n"]);
  assert.notEqual(chunks[0].buffer, chunks[1].buffer);
  await writer.close();
});

test("NumberToLineStream makes one chunk ahead, and the next one when that is read", async () => {
  const stream = new NumberToLineStream();
  const writer = stream.writable.getWriter();
  const reader = stream.readable.getReader();
  let written = 0;
  const write = (number: number): void => void writer.write(number).then(() => written++);
  write(1);
  await setTimeout(20);
  assert.equal(written, 1);
  write(2);
  await setTimeout(20); // it is in flight, and waits
  const limit = writer.desiredSize! + 2;
  for (let number = 3; number <= limit; number++) write(number);
  assert.equal(writer.desiredSize, 0);
  await setTimeout(20);
  assert.equal(written, 1);
  assert.equal(new TextDecoder().decode((await reader.read()).value), "1\n");
  await setTimeout(20);
  assert.equal(written, 2);
  assert.equal(writer.desiredSize, 1);
  const rest = Array.from({ length: limit - 1 }, (_, index) => `${index + 2}\n`).join("");
  for (let length = 0; length < rest.length;) length += (await reader.read()).value!.length;
  await writer.close();
  assert.equal((await reader.read()).done, true);
});

test("NumberToLineStream holds back a source that is faster than its reader", async () => {
  let produced = 0;
  const source = new ReadableStream<number>({ pull: (controller) => controller.enqueue(produced++) });
  const reader = source.pipeThrough(new NumberToLineStream()).getReader();
  await reader.read();
  let before = -1;
  for (let rounds = 0; rounds < 50 && before !== produced; rounds++) {
    before = produced;
    await setTimeout(20);
  }
  assert.equal(produced, before);
  await reader.cancel();
});

test("NumberToLineStream fails on what is no finite number, on both ends and for its source", async () => {
  const cases: [unknown, string][] = [
    [NaN, "RangeError: the number at index 2 is NaN: only finite numbers can be written as lines"],
    ["3", 'TypeError: the number at index 2 is "3": only numbers can be written as lines'],
    [
      2 ** 53,
      "RangeError: the number at index 2 is 9007199254740992: only numbers up to 2^53 - 1 in magnitude can be written as lines",
    ],
  ];
  for (const [value, message] of cases) {
    let reason: unknown;
    const source = new ReadableStream<number>({
      start(controller) {
        for (const number of [1, 2, value, 4]) controller.enqueue(number as number);
      },
      cancel: (error) => void (reason = error),
    });
    const stream = new NumberToLineStream();
    const piped = source.pipeTo(stream.writable);
    const failure = await Array.fromAsync(stream.readable).then(() => undefined, (error) => error);
    assert.equal(`${failure}`, message);
    await assert.rejects(piped, (error) => error === failure);
    assert.equal(reason, failure);
  }
});

test("NumberToLineStream fails its readable end when aborted, though a batch waits for a reader", async () => {
  const stream = new NumberToLineStream();
  const writer = stream.writable.getWriter();
  const reason = new Error("enough");
  await writer.write(1); // whose line is made before a read
  const writes = [writer.write(2)];
  await setTimeout(5); // the second write is in flight
  writes.push(writer.write(3));
  await writer.abort(reason);
  for (const write of writes) await assert.rejects(write, (error) => error === reason);
  await assert.rejects(stream.readable.getReader().read(), (error) => error === reason);
});

test("NumberToLineStream fails its writable end when cancelled, with all writes that wait", async () => {
  const stream = new NumberToLineStream();
  const writer = stream.writable.getWriter();
  const reason = new Error("enough");
  await writer.write(1);
  const writes = [writer.write(2)];
  await setTimeout(5);
  writes.push(writer.write(3));
  await stream.readable.cancel(reason);
  for (const write of writes) await assert.rejects(write, (error) => error === reason);
  await assert.rejects(writer.closed, (error) => error === reason);
});

test("NumberToLineStream passes a failure of its source on, and one of its destination back", async () => {
  const reason = new Error("no more");
  const failing = new ReadableStream<number>({
    pull(controller) {
      controller.error(reason);
    },
  });
  await assert.rejects(Array.fromAsync(failing.pipeThrough(new NumberToLineStream())), (error) => error === reason);
  let cancelled: unknown;
  const endless = new ReadableStream<number>({
    pull: (controller) => controller.enqueue(1),
    cancel: (reason) => void (cancelled = reason),
  });
  const full = new WritableStream<Uint8Array>({
    write() {
      throw reason;
    },
  });
  await assert.rejects(endless.pipeThrough(new NumberToLineStream()).pipeTo(full), (error) => error === reason);
  await setTimeout(5);
  assert.equal(cancelled, reason);
});

test("NumberToLineStream works between the runtime's own streams", async () => {
  const numbers = new globalThis.ReadableStream<number>({
    start(controller) {
      for (let number = 0; number < 3000; number++) controller.enqueue(number);
      controller.close();
    },
  });
  const { readable, writable } = new NumberToLineStream();
  const [text] = await Promise.all([new Response(readable).text(), numbers.pipeTo(writable)]);
  assert.equal(text, Array.from({ length: 3000 }, (_, number) => `${number}\n`).join(""));
});
