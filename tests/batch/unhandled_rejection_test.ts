import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { failures, forgotten } from "./failing_batched_streams.ts";

it("batched streams leave a rejection unhandled only where the caller forgot it", () => {
  const script = fileURLToPath(new URL("./unhandled_rejections.ts", import.meta.url));
  const runtimeArguments = "Deno" in globalThis ? ["run", "-A", "--no-check"] : [];
  const { stdout, stderr } = spawnSync(process.execPath, [...runtimeArguments, script], { encoding: "utf8" });
  assert.match(stdout, /^\{/, stderr);
  const counts = JSON.parse(stdout) as Record<string, number>;
  assert.deepEqual(Object.keys(counts), [...Object.keys(failures), ...Object.keys(forgotten)]);
  assert.deepEqual(Object.keys(counts).filter((name) => counts[name] > 0), Object.keys(forgotten));
});
