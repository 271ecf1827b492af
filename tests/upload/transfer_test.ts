import assert from "node:assert/strict";
import test from "node:test";
import type { Announced } from "../../lib/upload/body/announced.ts";
import type { StreamTaker } from "../../lib/upload/sink/body_sink.ts";
import { transfer } from "../../lib/upload/sink/transfer.ts";

const announced: Announced = { expectedBytes: undefined, digests: new Map(), trailerDigests: undefined };

/** A file that the runtime never finishes, of the size that is told. */
function endless(size: () => number): StreamTaker {
  return {
    write: () => Promise.resolve(),
    end: () => Promise.resolve(),
    commit: () => Promise.resolve(),
    discard: () => Promise.resolve(),
    writeStream: () => new Promise(() => {}),
    size,
    readBack: () => 0,
  };
}

test("a file that grows beyond maxBytes just when its sender is looked at fails the upload, not the process", async () => {
  const saving = transfer(new ReadableStream(), endless(() => 10), announced, { maxBytes: 5, idleTimeout: 20 });
  await assert.rejects(saving, { name: "UploadError", code: /^(?:TIMEOUT|TOO_LARGE)$/ });
});

test("a file whose size cannot be told fails the upload, not the process", async () => {
  const gone = endless(() => {
    throw new Error("EIO: it is gone");
  });
  await assert.rejects(transfer(new ReadableStream(), gone, announced, { idleTimeout: 20 }), { message: /EIO/ });
});
