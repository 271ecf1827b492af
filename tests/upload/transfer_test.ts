import assert from "node:assert/strict";
import test from "node:test";
import type { Announced } from "../../lib/upload/body/announced.ts";
import type { StreamTaker } from "../../lib/upload/sink/file_sink.ts";
import { transfer } from "../../lib/upload/sink/save_body.ts";
import { saveBody, type SaveBodyOptions } from "../../lib/upload/mod.ts";

const announced: Announced = { expectedBytes: undefined, digests: new Map() };

/** Returns a file that the runtime never finishes, with the size that the function returns. */
function endless(size: () => number): StreamTaker {
  return {
    write: () => Promise.resolve(),
    end: () => Promise.resolve(),
    commit: () => Promise.resolve(),
    discard: () => Promise.resolve(),
    writeStream: () => new Promise(() => {}),
    size,
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

test("an option that there is none of is refused, with the name that was meant", async () => {
  await assert.rejects(saveBody(new Request("http://site.example"), "file", { maxbytes: 1 } as SaveBodyOptions), {
    name: "TypeError",
    message: 'saveBody(): unknown option "maxbytes": did you mean "maxBytes"?',
  });
});
