import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundle } from "../../.ci/bundle.ts";
import { output } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { replacements } from "./replacements.ts";

/** Runs the program, and requires the expected outcome of every attempt. */
async function requireAll(...args: string[]): Promise<void> {
  const program = join(dirname(fileURLToPath(import.meta.url)), "replaced_globals.ts");
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  const { unhandled, ...seen } = JSON.parse(
    await output(process.execPath, [...flags, program, ...args], dirname(program)),
  );
  assert.deepEqual(Object.entries(seen).filter(([, text]) => text !== "abc"), []);
  assert.equal(unhandled, "none");
}

for (const name of Object.keys(replacements)) {
  test(`streams of both kinds work with each other where a program has replaced ${name}`, () => requireAll(name));
}

test("so they do where asynchronous functions are compiled away for zone.js", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-zone-"));
  try {
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const supported = { "async-await": false, "async-generator": false, "for-await": false };
    const outdir = join(folder, "out");
    await bundle({ entries: { mod: "lib/streams/mod.ts" }, outdir, codecs: outdir, options: { supported } });
    await requireAll("Promise as zone.js does", pathToFileURL(join(outdir, "mod.js")).href);
  } finally {
    await rm(folder, { recursive: true });
  }
});
