import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { RotatingFileWritable, type RotationOptions } from "../../../lib/files/mod.ts";
import { inFolder } from "../../support/folders.ts";
import { LIMIT } from "../../support/waits.ts";
import { openFilesIn } from "../written.ts";
import { shown, textsOf } from "./written_series.ts";

const program = fileURLToPath(new URL("series_process.ts", import.meta.url));
const words = process.versions.deno ? ["run", "-A", "--no-check", program] : [program];
/** The number of times that a process is killed: MILLRACE_SERIES_KILLS=200 for the full number. */
const kills = Number(process.env.MILLRACE_SERIES_KILLS ?? 4);

/** Kills a process after it wrote for `ms` milliseconds; returns the last line that it reported as written. */
async function killed(directory: string, run: string, options: object, ms: number): Promise<number> {
  const child = spawn(process.execPath, [...words, directory, run, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  let failed = "";
  let timer = setTimeout(() => child.kill("SIGKILL"), LIMIT);
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    if (printed === "") {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill("SIGKILL"), ms);
    }
    printed += text;
  });
  child.stderr!.setEncoding("utf8").on("data", (text: string) => failed += text);
  const [, signal] = await once(child, "close");
  clearTimeout(timer);
  assert.equal(signal, "SIGKILL", failed);
  return Number(printed.split("\n").at(-2) ?? -1);
}

const foreign: Readonly<Record<string, string>> = {
  "app-00003.log": "written by hand\n",
  "app-00005.log.zst": "no zstd at all",
  "app-00002.log.bak": "a backup",
  "app-2.log": "another scheme",
  "other.log": "another program's",
  ".app.log.millrace-lock-of-nobody": "",
  ".millrace-0000.tmp": "no name of ours",
};

async function withForeignFiles(directory: string): Promise<void> {
  await mkdir(directory);
  for (const [name, text] of Object.entries(foreign)) await writeFile(join(directory, name), text);
}

async function assertForeignFilesUntouched(directory: string): Promise<void> {
  for (const [name, text] of Object.entries(foreign)) assert.equal(await readFile(join(directory, name), "utf8"), text);
}

async function removeForeignFiles(directory: string): Promise<void> {
  for (const name of Object.keys(foreign)) await rm(join(directory, name));
}

/** Continues the series in this process, and closes it properly. */
async function endWell(directory: string, options: Partial<RotationOptions>): Promise<void> {
  const log = new RotatingFileWritable({ directory, name: "app.log", maxFileSize: 20_000, append: true, ...options });
  const writer = log.getWriter();
  await writer.write("end:0 \n");
  await writer.close();
  assert.deepEqual(openFilesIn(directory), []);
  const hidden = (await readdir(directory)).filter((name) => name.startsWith(".") && !Object.hasOwn(foreign, name));
  assert.deepEqual(hidden, [".app.log.millrace"]);
}

/** Returns the numbers of each process's lines, in the order of files; only the end of a file can be torn. */
async function linesOf(directory: string): Promise<Map<string, number[]>> {
  const runs = new Map<string, number[]>();
  for (const [name, text] of await textsOf(directory)) {
    const lines = text.split("\n");
    lines.pop(); // "" or what is torn
    for (const line of lines) {
      const [, run, number] = /^(\w+):(\d+) x*$/.exec(line) ?? [];
      assert.notEqual(run, undefined, `${name}: ${line}`);
      assert.equal(line, `${run}:${number} ${"x".repeat(run === "end" ? 0 : Number(number) % 90)}`);
      if (!runs.has(run)) runs.set(run, []);
      runs.get(run)!.push(Number(number));
    }
  }
  return runs;
}

test("a series whose process is killed again and again has every line that was told written, once and in order", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    await withForeignFiles(directory);
    const told = new Map<string, number>();
    for (let i = 0; i < kills; i++) {
      const options = [{ compress: "zstd" }, { compress: "gzip" }, {}][i % 3];
      told.set(`r${i}`, await killed(directory, `r${i}`, options, Math.random() * 200));
    }
    await endWell(directory, { compress: "zstd" });
    await assertForeignFilesUntouched(directory);
    await removeForeignFiles(directory);
    const runs = await linesOf(directory);
    assert.deepEqual([...runs.keys()], [...told.keys(), "end"].filter((run) => runs.has(run)));
    for (const [run, last] of told) {
      const numbers = runs.get(run) ?? [];
      assert.deepEqual(numbers, numbers.map((_, i) => i), `the lines of ${run}`);
      assert.ok(numbers.length > last, `${run}: ${numbers.length} lines of at least ${last + 1}`);
    }
  }));

test("a limited series whose process is killed again and again keeps its newest lines, and no more", () =>
  inFolder(async (folder) => {
    const directory = join(folder, "logs");
    await withForeignFiles(directory);
    const told = new Map<string, number>();
    const limits = { maxFiles: 5, maxTotalSize: 60_000 };
    for (let i = 0; i < kills; i++) {
      const options = { ...limits, ...(i % 2 === 0 ? { compress: "brotli" } : {}) };
      told.set(`r${i}`, await killed(directory, `r${i}`, options, Math.random() * 200));
    }
    await endWell(directory, limits);
    await assertForeignFilesUntouched(directory);
    const files = shown(directory).filter((name) => !Object.hasOwn(foreign, name));
    assert.ok(files.length <= 5, files.join());
    await removeForeignFiles(directory);
    const runs = await linesOf(directory);
    const [first] = runs.keys();
    for (const [run, numbers] of runs) {
      assert.deepEqual(numbers, numbers.map((_, i) => numbers[0] + i), `the lines of ${run}`);
      if (run !== first) assert.equal(numbers[0], 0);
      if (run !== "end") assert.ok(numbers.at(-1)! >= told.get(run)!, run);
    }
  }));
