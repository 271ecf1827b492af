import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { writeFully } from "../../lib/files/write_fully.ts";

/** A file whose writes take only some of the bytes, by a cycle of sizes; counts the calls. */
class HesitantFile {
  readonly bytes: number[] = [];
  calls = 0;
  readonly #takes: readonly number[];

  constructor(takes: readonly number[]) {
    this.#takes = takes;
  }

  writev(pieces: readonly Uint8Array[]): Promise<number> {
    return this.#take(pieces.flatMap((piece) => [...piece]));
  }

  write(piece: Uint8Array, offset: number, length: number): Promise<number> {
    return this.#take([...piece.subarray(offset, offset + length)]);
  }

  #take(bytes: number[]): Promise<number> {
    const taken = bytes.slice(0, this.#takes[this.calls++ % this.#takes.length]);
    this.bytes.push(...taken);
    return Promise.resolve(taken.length);
  }
}

const pieces = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 8 });

test("writeFully() goes on where the system took a part, with no byte twice or lost", () =>
  fc.assert(
    fc.asyncProperty(pieces, fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), async (pieces, takes) => {
      const file = new HesitantFile(takes);
      await writeFully(file, pieces);
      assert.deepEqual(file.bytes, pieces.flatMap((piece) => [...piece]));
    }),
  ));

test("writeFully() asks no call for 2 GiB, which systems and runtimes refuse", async () => {
  const lengths: number[] = [];
  const write = (_: Uint8Array, __: number, length: number): Promise<number> => {
    lengths.push(length);
    return Promise.resolve(length);
  };
  const piece = new Uint8Array(2 ** 31 + 5); // whose memory is never touched
  await writeFully({ write, writev: () => Promise.resolve(0) }, [piece]);
  assert.ok(Math.max(...lengths) < 2 ** 31);
  assert.equal(lengths.reduce((sum, length) => sum + length), piece.length);
});

test("writeFully() makes one call where the system takes everything", async () => {
  for (const count of [1, 2, 100]) {
    const file = new HesitantFile([Infinity]);
    await writeFully(file, Array.from({ length: count }, () => new Uint8Array(3)));
    assert.equal(file.calls, 1);
  }
});
