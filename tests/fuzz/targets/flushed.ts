import assert from "node:assert/strict";
import { openDecoder } from "../../../lib/codecs/internal.ts";
import { CompressionStream, type CompressionStreamOptions, type Format } from "../../../lib/codecs/mod.ts";

/** Checks that each piece can be decoded before the next one is written, if the encoder flushes. */
export async function requireAtOnce(
  pieces: readonly Uint8Array<ArrayBuffer>[],
  format: Exclude<Format, "dcb" | "dcz">,
  options: CompressionStreamOptions,
  target: Uint8Array,
): Promise<void> {
  const { readable, writable } = new CompressionStream(format, { ...options, flush: true });
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  const decoder = await openDecoder(format);
  const writes: Promise<void>[] = [];
  try {
    for (const piece of pieces) {
      writes.push(writer.write(piece));
      for (let decoded = 0; decoded < piece.length;) {
        decoder.write((await soon(reader.read())).value!);
        while (decoder.more) {
          const length = decoder.read(target);
          const part = piece.subarray(decoded, decoded + length);
          assert.ok(Buffer.from(target.buffer, target.byteOffset, length).equals(part), "other bytes when flushed");
          decoded += length;
        }
      }
    }
  } finally {
    decoder.close();
    await reader.cancel();
    await Promise.allSettled(writes);
  }
}

/** Resolves to the flushed data; rejects if it does not arrive. */
async function soon<T>(promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("what was flushed does not come")), 5000);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
