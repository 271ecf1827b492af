import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import test from "node:test";
import { inFolder } from "../support/folders.ts";
import { run } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { bundledInstall } from "./bundled_install.ts";

/** A checkout of denoland/std; its own workspace resolves what its packages import. */
const std = process.env.DENO_STD_ROOT ? resolve(process.env.DENO_STD_ROOT) : undefined;

/** The number of tests that its `streams` package has at 1.1.2. */
const LEAST = 100;

test(
  "deno std's streams tests pass with ours as the globals",
  { skip: unable(), timeout: 120_000 },
  () =>
    inFolder(async (folder) => {
      const install = await bundledInstall(folder);
      const args = ["test", "-A", "--no-check", "--no-lock", "--quiet", "--preload", install, "streams/"];
      const { code, stdout, stderr } = await run(process.execPath, args, std!);
      assert.equal(code, 0, stdout + stderr);
      const passed = Number(/\| (\d+) passed/.exec(stdout)?.[1]);
      assert.ok(passed >= LEAST, `${passed} tests passed:\n${stdout}`);
    }),
);

/** Returns the reason to skip the test; false if it can run. */
function unable(): string | false {
  if (runtime !== "deno") return "they are tests of Deno";
  if (std === undefined) return "DENO_STD_ROOT names no checkout of denoland/std";
  return existsSync(join(std, "streams/deno.json")) ? false : `${std} has no folder streams with a deno.json`;
}
