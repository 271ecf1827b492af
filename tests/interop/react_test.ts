import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import process from "node:process";
import test, { describe } from "node:test";
import { fileURLToPath } from "node:url";
import { run } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { cases } from "./react/cases.ts";
import { unavailable } from "./react/react.ts";

describe("React's pages", { skip: unavailable }, () => {
  for (const [name, check] of Object.entries(cases)) test(name, check);

  test("the same with our streams as the globals", { timeout: 60_000 }, async () => {
    const script = join(dirname(fileURLToPath(import.meta.url)), "react/installed.ts");
    const args = runtime === "deno" ? ["run", "-A", "--no-check", "--quiet"] : [];
    const { code, stdout, stderr } = await run(process.execPath, [...args, script], process.cwd());
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, new RegExp(`${Object.keys(cases).length} fine`));
  });
});
