import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { forgotten, forgottenPipes, pipeFailures } from "./failing_streams.ts";
import { mixedSets, ourSet } from "./stream_sets.ts";

const script = fileURLToPath(new URL("./unhandled_rejections.ts", import.meta.url));
const runtimeArguments = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];

/** Returns the number of rejections that each way to fail leaves unhandled. */
function unhandled(set: string): Readonly<Record<string, number>> {
  const { stdout, stderr } = spawnSync(process.execPath, [...runtimeArguments, script, set], { encoding: "utf8" });
  assert.match(stdout, /^\{/, stderr);
  return JSON.parse(stdout) as Record<string, number>;
}

function namesOfAny(counts: Readonly<Record<string, number>>): string[] {
  return Object.keys(counts).filter((failure) => counts[failure] > 0);
}

it("our streams leave a rejection unhandled only where the caller forgot it", () => {
  const counts = unhandled(ourSet.name);
  assert.ok(Object.keys(counts).length > 50);
  assert.deepEqual(namesOfAny(counts), [...Object.keys(forgotten), ...Object.keys(forgottenPipes)]);
});

for (const { name } of mixedSets) {
  it(`pipes of ${name} leave a rejection unhandled only where the caller forgot it`, () => {
    const counts = unhandled(name);
    assert.deepEqual(Object.keys(counts), [...Object.keys(pipeFailures), ...Object.keys(forgottenPipes)]);
    assert.deepEqual(namesOfAny(counts), Object.keys(forgottenPipes));
  });
}
