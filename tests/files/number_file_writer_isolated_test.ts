import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import fc from "fast-check";
import { NumberFileWriter, type RotationOptions } from "../../lib/files/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { inFolder } from "../support/folders.ts";
import { contents, expectedFiles, openFilesIn, turns } from "./written.ts";
import { tries } from "../support/long_run.ts";

const lines = (numbers: readonly number[]): string[] => numbers.map((number) => `${number}\n`);

async function writeNumbers(
  options: RotationOptions,
  numbers: readonly number[],
  pauses: number[] = [],
  strategy?: QueuingStrategy<number>,
): Promise<void> {
  const stream = new NumberFileWriter(options, strategy);
  const writer = stream.getWriter();
  writer.closed.catch(() => {});
  for (const [i, number] of numbers.entries()) {
    writer.write(number).catch(() => {});
    if (pauses.length > 0) await turns(pauses[i % pauses.length]);
  }
  await writer.close();
}

const number = fc.oneof(fc.nat(9), fc.integer(), fc.maxSafeInteger());
const pauses = fc.array(fc.constantFrom(0, 0, 0, 0, 0.5, 1, 2), { maxLength: 5 });
const highWaterMark = fc.constantFrom(1, 7, 100, undefined);

test("NumberFileWriter gives the same files whatever the batches, with no line split between two", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(number, { maxLength: 300 }),
      pauses,
      highWaterMark,
      fc.integer({ min: 18, max: 200 }),
      fc.nat(9).map((n) => n === 0), // rarely: each atomic file waits for the disk
      (numbers, pauses, highWaterMark, maxFileSize, atomic) =>
        inFolder(async (directory) => {
          await writeNumbers({ directory, maxFileSize, atomic }, numbers, pauses, { highWaterMark });
          assert.deepEqual(Object.values(contents(directory)), expectedFiles(lines(numbers), maxFileSize));
          assert.deepEqual(openFilesIn(directory), []);
        }),
    ),
    { numRuns: tries(150) },
  ));

test("NumberFileWriter rotates inside large batches at the very byte", () =>
  inFolder(async (folder) => {
    const numbers = Array.from({ length: 50_000 }, (_, i) => i * i);
    const expected = lines(numbers);
    const total = expected.join("").length;
    for (const maxFileSize of [1000, 4096, 100_000, total - 1, total]) {
      const directory = join(folder, String(maxFileSize));
      const stream = new NumberFileWriter({ directory, maxFileSize });
      await ReadableStream.from(numbers).pipeTo(stream);
      assert.deepEqual(Object.values(contents(directory)), expectedFiles(expected, maxFileSize));
    }
  }));

test("NumberFileWriter fills a file to its size exactly, and goes on in the next", () =>
  inFolder(async (directory) => {
    const stream = new NumberFileWriter({ directory, maxFileSize: 4 });
    const writer = stream.getWriter();
    await Promise.all([writer.write(1), writer.write(2)]);
    assert.deepEqual(contents(directory), { "numbers-00001.txt": "1\n2\n" });
    assert.deepEqual(stream.files, []);
    await writer.write(345);
    assert.deepEqual(stream.files, [join(directory, "numbers-00001.txt")]);
    await writer.close();
    assert.deepEqual(contents(directory), { "numbers-00001.txt": "1\n2\n", "numbers-00002.txt": "345\n" });
  }));

test("NumberFileWriter writes numbers as lines of JSON would have them", () =>
  inFolder(async (directory) => {
    await writeNumbers({ directory, maxFileSize: 1000 }, [0, -0, 1.5, -2.25e-7, 2 ** 53 - 1, -(2 ** 53 - 1)]);
    const [file] = Object.values(contents(directory));
    assert.deepEqual(file.split("\n").map(Number), [0, 0, 1.5, -2.25e-7, 2 ** 53 - 1, -(2 ** 53 - 1), 0]);
  }));

test("NumberFileWriter names a number that cannot be written, before anything of its batch is", () =>
  inFolder(async (folder) => {
    for (const wrong of [NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53)]) {
      const directory = join(folder, String(wrong));
      const stream = new NumberFileWriter({ directory, maxFileSize: 1000 });
      const writer = stream.getWriter();
      writer.closed.catch(() => {});
      await writer.write(1);
      const message = `the number at index 3 is ${wrong}`;
      for (const write of [writer.write(2), writer.write(3), writer.write(wrong), writer.write(4)]) {
        await assert.rejects(write, (error: Error) => error instanceof RangeError && error.message.startsWith(message));
      }
      assert.deepEqual(contents(directory), { "numbers-00001.txt": "1\n" });
    }
    assert.deepEqual(openFilesIn(folder), []);
  }));

test("NumberFileWriter makes no file where nothing is to be written", () =>
  inFolder(async (directory) => {
    await writeNumbers({ directory, maxFileSize: 1000 }, []);
    assert.deepEqual(contents(directory), {});
  }));

test("NumberFileWriter refuses a line larger than a file before it writes any of its batch", () =>
  inFolder(async (directory) => {
    const stream = new NumberFileWriter({ directory, maxFileSize: 3 });
    const writer = stream.getWriter();
    writer.closed.catch(() => {});
    await writer.write(1);
    for (const write of [writer.write(22), writer.write(333)]) {
      await assert.rejects(write, { name: "RangeError", message: /a chunk of 4 bytes: maxFileSize is 3/ });
    }
    assert.deepEqual(contents(directory), { "numbers-00001.txt": "1\n" });
  }));

test("NumberFileWriter checks its options where it is made", () => {
  const make = (options: unknown) => () => new NumberFileWriter(options as RotationOptions);
  const needs = (name: string): RegExp => new RegExp(`^TypeError: NumberFileWriter needs the option ${name}: `);
  assert.throws(make(undefined), needs("directory"));
  assert.throws(make({ maxFileSize: 1 }), needs("directory"));
  assert.throws(make({ directory: "/nowhere" }), needs("maxFileSize"));
  assert.throws(make({ directory: "/nowhere", maxFileSize: Infinity }), RangeError);
});
