import assert from "node:assert/strict";
import test from "node:test";
import { createUploadHandler, UploadError, type UploadHandlerOptions } from "../../../lib/upload/mod.ts";
import { contentsOf, inUploads } from "./serving_handler.ts";

/** Returns the output of console.warn while `use` runs, one line a call. */
async function warnings(use: () => Promise<void>): Promise<string[]> {
  const { warn } = console;
  const lines: string[] = [];
  console.warn = (...words: unknown[]) => void lines.push(words.map(String).join(" "));
  try {
    await use();
    await new Promise((later) => setTimeout(later, 10));
  } finally {
    console.warn = warn;
  }
  return lines;
}

/** Stores a note, and returns the printed warnings. */
async function warningsOf(options: Partial<UploadHandlerOptions>, status: number, body?: BodyInit): Promise<string[]> {
  let lines: string[] = [];
  await inUploads(async (directory) => {
    const handler = createUploadHandler({ directory, ...options });
    lines = await warnings(async () => {
      const init = { method: "PUT", body: body ?? "hello", duplex: "half" };
      const response = await handler.fetch(new Request("http://localhost/note", init));
      await response.text();
      assert.equal(response.status, status);
    });
    assert.deepEqual(await contentsOf(directory), status === 201 ? { note: "hello" } : {});
  });
  return lines;
}

test("without log, nothing is printed for what is stored, or refused", async () => {
  assert.deepEqual(await warningsOf({}, 201), []);
  assert.deepEqual(await warningsOf({ maxBytes: 1 }, 413), []);
});

test("without log, one line is printed for what fails", async () => {
  const fail = (error: unknown) => ({ name: () => Promise.reject(error) });
  const [line, ...others] = await warningsOf(fail(new Error("two\nlines of /secret")), 500);
  assert.match(line, /^PUT \/note 500 after \d+ ms and 0 bytes: "two\\nlines of \/secret"$/);
  assert.deepEqual(others, []);
  assert.match((await warningsOf(fail(new UploadError("NO_SPACE", "full")), 507))[0], /^PUT \/note 507 .* "full"$/);
});

test("without log, one line is printed for a sender who leaves", async () => {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new Error("gone")),
  });
  const [line, ...others] = await warningsOf({}, 499, body);
  assert.match(line, /^PUT \/note 499 after \d+ ms/);
  assert.deepEqual(others, []);
});

test("log() that throws, or is rejected, changes nothing, and is printed", async () => {
  const throwing = () => {
    throw new Error("log is full");
  };
  assert.match(
    (await warningsOf({ log: throwing }, 201)).join(),
    /^log\(\) of the upload handler failed: .*log is full/,
  );
  const rejecting = () => Promise.reject(new Error("log is full"));
  assert.match((await warningsOf({ log: rejecting }, 201)).join(), /^log\(\) of the upload handler failed: .*is full/);
});

test("onProgress() that throws fails the upload with 500, and nothing is left", async () => {
  const onProgress = () => {
    throw new Error("progress is full");
  };
  assert.match((await warningsOf({ onProgress }, 500)).join(), /^PUT \/note 500 .*progress is full/);
});
