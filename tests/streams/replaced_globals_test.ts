import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { output } from "../support/processes.ts";
import { overlapping } from "../support/overlapping.ts";
import { runtime } from "../support/runtime.ts";
import { replacements } from "./replaced_globals.ts";

const test = overlapping(2);

for (const name of Object.keys(replacements)) {
  test(`streams of both kinds work with each other where a program has replaced ${name}`, async () => {
    const program = join(dirname(fileURLToPath(import.meta.url)), "replaced_globals.ts");
    const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
    const { unhandled, ...seen } = JSON.parse(
      await output(process.execPath, [...flags, program, name], dirname(program)),
    );
    assert.deepEqual(Object.entries(seen).filter(([, text]) => text !== "abc"), []);
    assert.equal(unhandled, "none");
  });
}
