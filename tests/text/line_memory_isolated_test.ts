import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { output } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";
import type { Fed } from "./line_process.ts";
import { needs } from "../support/needs.ts";

const MEBIBYTE = 2 ** 20;
const skip = needs("proc");
/** Memory for chunks, compiled code and garbage not yet collected, in MiB. */
const ALLOWANCE = 96;

/** Feeds a LineStream in a process of its own. */
async function feed(job: string): Promise<Fed> {
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  const program = join(root, "tests/text/line_process.ts");
  return JSON.parse(await output(process.execPath, [...flags, program, job], root)) as Fed;
}

test("a line of 2 MB in chunks of a byte takes no more than three times its size", { skip }, async () => {
  const { lines, characters, growth } = await feed("a line of 2 MB in chunks of a byte");
  assert.deepEqual([lines, characters], [1, 2e6]);
  assert.ok(growth <= 3 * 2e6 / MEBIBYTE + ALLOWANCE, `${growth} MiB`);
});

test("a line of 100 MB takes no more than three times its size", { skip }, async () => {
  const { lines, characters, growth } = await feed("a line of 100 MB in chunks of 64 KiB");
  assert.deepEqual([lines, characters], [1, 100e6]);
  assert.ok(growth <= 3 * 100e6 / MEBIBYTE + ALLOWANCE, `${growth} MiB`);
});

test("a chunk may be larger than the longest string: 600 MiB of short lines", { skip }, async () => {
  const { lines, characters, error } = await feed("a chunk of 600 MiB of short lines");
  assert.deepEqual({ lines, characters, error }, {
    lines: 600 * 1024,
    characters: 600 * 1024 * 1023,
    error: undefined,
  });
});

test("a line that is longer than the longest string of some runtimes fails on all, and says what to do", {
  skip,
}, async () => {
  const { lines, error } = await feed("a line of 520 MiB");
  assert.deepEqual({ lines, error }, {
    lines: 0,
    error: "RangeError: line 1 is longer than 536870888 bytes: raise maxLineLength if it may be",
  });
});

test("a line that is longer than the longest string fails in plain words where maxLineLength allows it", {
  skip,
}, async () => {
  const { lines, error } = await feed("a line of 520 MiB, without a limit");
  const [expected, message] = runtime === "bun" ? [1, undefined] : [ // whose strings may be longer
    0,
    "RangeError: line 1 has at least 545259520 bytes, more than a string can hold here: lower maxLineLength to refuse it earlier",
  ];
  assert.deepEqual({ lines, error }, { lines: expected, error: message });
});
