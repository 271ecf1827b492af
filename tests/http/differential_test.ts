import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { tries } from "../support/long_run.ts";
import { run } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";

const runner = fileURLToPath(new URL("./differential/run.ts", import.meta.url));
const runtimeArguments = runtime === "deno" ? ["run", "-A", "--no-check"] : [];

// This runs in a separate process, since the peers throw errors that cannot be caught. Cases are the same each time;
// run.ts without a seed makes new ones.
test("servers that play known scripts are understood as by undici, node:http and the runtime's fetch, but for known differences", async () => {
  const options = ["--cases", String(tries(1200)), "--seed", "1", "--lanes", "12", "--quiet"];
  const { code, stdout, stderr } = await run(process.execPath, [...runtimeArguments, runner, ...options], root);
  assert.equal(code, 0, `${stdout}${stderr}`);
});
