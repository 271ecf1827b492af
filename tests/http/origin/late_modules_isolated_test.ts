import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// Deno itself ends without a descriptor, and Windows has no such limit.
const skip = "Deno" in globalThis || process.platform === "win32";

async function run(which: string): Promise<string> {
  const script = fileURLToPath(new URL("loads_without_descriptors.ts", import.meta.url));
  const args = ["-c", 'ulimit -n 200; exec "$0" "$1" "$2"', process.execPath, script, which];
  return (await promisify(execFile)("sh", args)).stdout.trim();
}

test("a client whose modules cannot be read fails with an HttpError", { skip }, async () => {
  assert.equal(await run("late"), "true CONNECTION_REFUSED http://test true");
});

test("a client that was there before descriptors ran short serves again after that", { skip }, async () => {
  assert.equal(await run("early"), "fine");
});
