import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { within } from "../support/waits.ts";
import { FakeStore } from "./fake_store.ts";

/** Runs against a store in memory, and sees that all signatures were right. */
export async function withStore(act: (store: FakeStore) => Promise<void>): Promise<void> {
  const store = await FakeStore.start();
  try {
    await within(act(store), "the scene");
    assert.deepEqual(store.refused, []);
  } finally {
    await store.stop();
  }
}

/** Bytes that differ from place to place. */
export function bytesOf(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i += 64) bytes[i] = (i * 31 + (i >> 10) * seed) & 255;
  return bytes;
}

/** Returns a digest, for messages that do not show megabytes. */
export function digestOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && createHash("sha256").update(bytes).digest("hex");
}

/** Bytes as a stream, in chunks. */
export function streamOf(bytes: Uint8Array, size: number = 256 * 1024): ReadableStream<Uint8Array> {
  let start = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (start >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(start, start += size));
    },
  });
}
