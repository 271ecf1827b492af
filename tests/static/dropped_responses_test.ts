import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { root, runtime } from "../support/runtime.ts";
import { run } from "../support/processes.ts";
import { writeTree } from "../support/folders.ts";

const withGarbageCollector = {
  node: ["--expose-gc"],
  bun: ["--expose-gc"],
  deno: ["run", "-A", "--no-check", "--v8-flags=--expose-gc"],
};

test("responses that nobody reads end neither the process nor leave files open, nor keep close() waiting", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-dropped-"));
  try {
    await writeTree(folder, { "large.bin": new Uint8Array(300_000) });
    const script = fileURLToPath(new URL("dropped_responses.ts", import.meta.url));
    const { code, stdout, stderr } = await run(
      process.execPath,
      [...withGarbageCollector[runtime], script, folder],
      root,
    );
    assert.deepEqual({ code, stdout }, { code: 0, stdout: "left open: 0\nclosed\n" }, stderr);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
