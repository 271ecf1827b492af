import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { root, runtime } from "../support/runtime.ts";
import { run } from "../support/processes.ts";
import { exclusions } from "./sirv_exclusions.ts";

/** A checkout of lukeed/sirv. */
const sirv = process.env.SIRV_ROOT ? resolve(process.env.SIRV_ROOT) : undefined;

/** The number of sirv's own tests at version 3.0.1. */
const LEAST = 75;

for (const entry of ["node", "fetch"] as const) {
  test(`sirv's own tests pass with our ${entry}() in its place`, { skip: unable(), timeout: 120_000 }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-sirv-"));
    try {
      await prepare(folder);
      const args = runtime === "deno" ? ["run", "-A", "--no-check", "--quiet"] : [];
      const { stdout, stderr } = await run(process.execPath, [...args, "tests/sirv.mjs"], folder, {
        SIRV_ENTRY: entry,
      });
      assertPassed(stdout, stderr);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Returns the reason to skip the test; false if it can run. */
function unable(): string | false {
  if (sirv === undefined) return "SIRV_ROOT names no checkout of lukeed/sirv";
  return existsSync(join(sirv, "tests/sirv.mjs")) ? false : `${sirv} has no file tests/sirv.mjs`;
}

/** Puts sirv's tests into `folder`, with the adapter where they import sirv from, and our packages to run them with. */
async function prepare(folder: string): Promise<void> {
  await cp(join(sirv!, "tests"), join(folder, "tests"), { recursive: true });
  await mkdir(join(folder, "packages/sirv"), { recursive: true });
  await mkdir(join(folder, "packages/sirv-cli"), { recursive: true });
  const adapter = JSON.stringify(pathToFileURL(join(root, "tests/interop/sirv_adapter.ts")).href);
  await writeFile(join(folder, "packages/sirv/index.mjs"), `export { sirv as default } from ${adapter};\n`);
  await writeFile(join(folder, "packages/sirv-cli/bin.js"), ""); // looked for, but not run by these tests
  for (const name of ["deno.json", "package.json"]) await cp(join(root, name), join(folder, name));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await completeSite(join(folder, "tests/public"));
}

/**
 * A file that is there only encoded is none to ours: a client may refuse every coding but identity (RFC 9110, section
 * 12.5.3). And a checkout sets the times of files as it comes to them, whereas a variant must not be older than its file.
 */
async function completeSite(site: string): Promise<void> {
  await writeFile(join(site, "data.js"), "// as it is, and longer than when it is encoded\n");
  for (const path of await readdir(site, { recursive: true })) await utimes(join(site, path), 1.7e9, 1.7e9);
}

/** Checks that the tests that failed are those that are excluded. */
function assertPassed(stdout: string, stderr: string): void {
  const output = stdout + stderr;
  const total = Number(/Total: +(\d+)/.exec(stdout)?.[1]);
  assert.ok(total >= LEAST, `${total} tests ran:\n${output}`);
  const failed = [...stdout.matchAll(/^ *FAIL +(.*?) +"(.*)"$/gm)].map(([, suite, name]) => `${suite}: ${name}`);
  const excluded = exclusions.map(({ suite, name }) => `${suite}: ${name}`);
  assert.deepEqual(failed.sort(), excluded.sort(), output);
  assert.equal(Number(/Passed: +(\d+)/.exec(stdout)?.[1]), total - excluded.length, output);
}
