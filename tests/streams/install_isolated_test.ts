import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import process from "node:process";
import test, { before } from "node:test";
import { fileURLToPath } from "node:url";
import { output } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import type { Installed } from "./installed.ts";
import type { Seen } from "./when_installed.ts";

let seen: Installed;

before(async () => {
  seen = await printed<Installed>("installed.ts");
});

/** Runs a program in a separate process, since other tests need the runtime's globals, and returns its output. */
async function printed<T>(name: string, ...args: string[]): Promise<T> {
  const program = join(dirname(fileURLToPath(import.meta.url)), name);
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  return JSON.parse(await output(process.execPath, [...flags, program, ...args], dirname(program)));
}

test("importing install makes every class of the standard ours, and the two streams of text", () => {
  assert.equal(Object.keys(seen.installed).length, 15);
  assert.deepEqual(Object.entries(seen.installed).filter(([, whose]) => whose !== "ours"), []);
  assert.deepEqual(seen.oddAttributes, []);
});

test("with ours installed the runtime's own streams and consumers work with them", () => {
  assert.deepEqual(seen.texts, {
    "a Response": "sent",
    "the body of a native Response": "BÖDY",
    "a Blob's stream": "BLÖB",
    "native transforms": "nätive",
    "text streams": "täxt",
    "a stream made before uninstall()": "LÄTER",
  });
});

test("with ours installed the runtime's own objects are instances of the globals still", () => {
  assert.deepEqual(seen.oddInstances, []);
});

test("sources of a type that only the runtime has go to its own class", () => {
  const refused = 'TypeError: the underlying source\'s type must be "bytes" or undefined, not "direct"';
  assert.equal(seen.direct, runtime === "bun" ? "direct" : refused);
});

test("uninstall() puts back what was there, once and for all", () => {
  assert.deepEqual(seen.notRestored, []);
  assert.equal(seen.twice, true);
});

test("with ours installed, programs see of the runtime's own streams what they saw before", async () => {
  const [native, installed] = await Promise.all([
    printed<Seen>("when_installed.ts"),
    printed<Seen>("when_installed.ts", "--installed"),
  ]);
  assert.ok(Object.keys(native).length >= 30);
  assert.deepEqual(installed, native);
});
