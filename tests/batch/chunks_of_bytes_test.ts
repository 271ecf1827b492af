import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { it } from "node:test";
import { runInNewContext } from "node:vm";
import { coalesceBytes } from "../../lib/batch/mod.ts";
import { CompressionStream, decompress } from "../../lib/codecs/mod.ts";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream, WritableStream } from "../../lib/streams/mod.ts";
import { LineStream } from "../../lib/text/mod.ts";

/** Writes chunks to a stream that takes bytes, and returns the bytes that arrive. */
type Taker = (chunks: readonly unknown[]) => Promise<Uint8Array>;

async function collected(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

const takers: Readonly<Record<string, Taker>> = {
  coalesceBytes: (chunks) => collected(ReadableStream.from(chunks as Uint8Array[]).pipeThrough(coalesceBytes())),
  CompressionStream: async (chunks) => {
    const compressed = ReadableStream.from(chunks as Uint8Array<ArrayBuffer>[]).pipeThrough(
      new CompressionStream("gzip"),
    );
    return await decompress(await collected(compressed), { format: "gzip" });
  },
  async LineStream(chunks) {
    let text = "";
    await ReadableStream.from(chunks as Uint8Array[]).pipeThrough(new LineStream()).pipeTo(
      new WritableStream({ write: (line) => void (text += line) }),
    );
    return Buffer.from(text);
  },
  async fromNodeWritable(chunks) {
    const written: Buffer[] = [];
    const writable = new Writable({
      write(chunk, _encoding, callback) {
        written.push(chunk);
        callback();
      },
    });
    await ReadableStream.from(chunks as Uint8Array[]).pipeTo(fromNodeWritable(writable));
    return Buffer.concat(written);
  },
};

const bytes = Uint8Array.from("abcdefgh", (letter) => letter.charCodeAt(0));
const shared = new Uint8Array(new SharedArrayBuffer(8));
shared.set(bytes);
const kinds: Readonly<Record<string, () => unknown>> = {
  Uint8Array: () => bytes.slice(),
  "a part of one": () => Uint8Array.from([0, ...bytes, 0]).subarray(1, 9),
  Buffer: () => Buffer.from(bytes),
  Uint16Array: () => new Uint16Array(bytes.slice().buffer),
  DataView: () => new DataView(Uint8Array.from([0, ...bytes]).buffer, 1),
  ArrayBuffer: () => bytes.slice().buffer,
  SharedArrayBuffer: () => shared.buffer,
  "of another realm": () => runInNewContext("Uint8Array.from([97, 98, 99, 100, 101, 102, 103, 104]).buffer"),
};

/** Returns an object as it is, once its bytes have gone elsewhere. */
function detached<T extends ArrayBufferView | ArrayBuffer>(chunk: T): T {
  structuredClone(chunk, { transfer: [ArrayBuffer.isView(chunk) ? chunk.buffer as ArrayBuffer : chunk] });
  return chunk;
}

for (const [name, take] of Object.entries(takers)) {
  it(`${name} takes all kinds of views and buffers`, async () => {
    for (const [kind, make] of Object.entries(kinds)) {
      assert.equal(Buffer.from(await take([make(), make(), make()])).toString(), "abcdefgh".repeat(3), kind);
    }
  });

  it(`${name} refuses a chunk whose buffer is detached, and what has no bytes`, async () => {
    for (const chunk of [bytes.slice(), bytes.slice().buffer, new Uint16Array(4), new DataView(new ArrayBuffer(8))]) {
      await assert.rejects(take([bytes.slice(), detached(chunk)]), { name: "TypeError", message: /detached/ });
      await assert.rejects(take([chunk]), TypeError, "alone, too");
    }
    for (
      const chunk of [
        5,
        null,
        {},
        { [Symbol.toStringTag]: "ArrayBuffer", length: 3 },
        Object.create(ArrayBuffer.prototype),
      ]
    ) {
      await assert.rejects(take([bytes.slice(), chunk]), TypeError);
    }
  });
}
