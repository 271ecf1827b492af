import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

// Deno itself ends without a descriptor, and Windows has no such limit.
const skip = "Deno" in globalThis || process.platform === "win32";

test("a client whose modules cannot be read fails with an HttpError", { skip }, async () => {
  const script = fileURLToPath(new URL("loads_without_descriptors.ts", import.meta.url));
  const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -n 200; exec "$0" "$1"', process.execPath, script]);
  assert.equal(stdout.trim(), "true CONNECTION_REFUSED http://test true");
});
