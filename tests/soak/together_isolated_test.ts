import assert from "node:assert/strict";
import { test } from "node:test";
import { isLong } from "../support/long_run.ts";
import { runtime } from "../support/runtime.ts";
import { soakTogether } from "./together/together.ts";

const skip = !isLong
  ? "a run for nights"
  : runtime !== "node" && "clients are for Node, and start servers on all runtimes";

for (const command of ["node", "bun", "deno run -A --no-check --quiet --v8-flags=--expose-gc"]) {
  const [name] = command.split(" ");
  test(`a server with all parts on ${name} serves hostile clients, and nothing is lost or left`, { skip }, async () => {
    const { faults, sent } = await soakTogether(command.split(" "), 20_000, 1);
    assert.deepEqual(faults, []);
    assert.ok(sent.size > 10, [...sent.keys()].join());
  });
}
