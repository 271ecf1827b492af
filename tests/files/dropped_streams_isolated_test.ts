import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { noise } from "../support/bytes.ts";
import { isLong, tries } from "../support/long_run.ts";
import { type Ended, run } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";
import { inFolder } from "../support/folders.ts";
import { cannotListOpenFiles } from "./written.ts";

const withGarbageCollector = {
  node: ["--expose-gc"],
  bun: [],
  deno: ["run", "-A", "--no-check", "--v8-flags=--expose-gc"],
};

/** Runs a program of this folder where it can collect garbage. */
function collecting(name: string, ...args: string[]): Promise<Ended> {
  const script = fileURLToPath(new URL(name, import.meta.url));
  return run(process.execPath, [...withGarbageCollector[runtime], script, ...args], root);
}

const reading = [
  "unread",
  "response",
  "read response",
  "reader",
  "released reader",
  "BYOB reader",
  "reader that did not wait",
  "reader, with a signal",
  "followed, with a signal",
  "cancelled",
  "cancelled reader",
  "tee",
  "read tee",
  "iterator",
  "pipeThrough()",
  "read pipeThrough()",
  "no destination",
];
const writing = [
  "openFileWritable",
  "openFileWritable, atomic",
  "openFileWritable, not waited for",
  "RotatingFileWritable",
  "RotatingFileWritable, atomic",
  "NumberFileWriter, atomic",
  "AtomicFile",
  "AtomicFile at once",
  "AtomicFile, complete",
];

const dropped: readonly (readonly [what: string, rounds: number, ways: readonly string[]])[] = [
  ["files that are read and dropped, in many ways,", tries(40), reading],
  ["files that are written and dropped, in many ways,", tries(40), writing],
  [`${tries(2000)} files that are read, and then written, and dropped`, tries(2000), [
    "unread",
    "openFileWritable, atomic",
  ]],
];

for (const [what, rounds, ways] of dropped) {
  test(
    `${what} are closed, leave nothing temporary, and do not end the process`,
    { skip: cannotListOpenFiles },
    () =>
      inFolder(async (folder) => {
        const { code, stdout, stderr } = await collecting("dropped_streams.ts", folder, `${rounds}`, ...ways);
        const expected = ways.map((way) => `${way}: 0 open, 0 temporary\n`).join("");
        assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: expected, stderr: "" });
      }),
  );
}

/** Six chunks, after each of which all memory is collected; twice as many in a long run. */
const SIZE = isLong ? 800_000 : 400_000;

test("a file is not closed while any part of its stream is read, whatever is collected meanwhile", () =>
  inFolder(async (folder) => {
    const file = join(folder, "file");
    await writeFile(file, noise(SIZE, 1));
    const ways = ["reader", "BYOB reader", "iterator", "branch of a tee", "response", "pipeTo()", "pipeThrough()"];
    ways.push("pipe nobody waits for", "reader until an abort");
    const { code, stdout, stderr } = await collecting("kept_streams.ts", file, ...ways);
    const expected = ways.map((way) => `${way}: ${SIZE}\n`).join("");
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: expected, stderr: "" });
  }));
