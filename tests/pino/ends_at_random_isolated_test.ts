import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { followFile } from "../../lib/files/mod.ts";
import { openLogDestination } from "../../lib/pino/mod.ts";
import { LineStream } from "../../lib/text/mod.ts";
import { textsOf } from "../files/series/written_series.ts";
import { cannotMount, onSmallDisk } from "../files/written.ts";
import { inFolder } from "../support/folders.ts";
import { isLong } from "../support/long_run.ts";
import { randomNumbers } from "../support/random_numbers.ts";
import { LIMIT, until } from "../support/waits.ts";
import { needs } from "../support/needs.ts";

const program = fileURLToPath(new URL("ending_process.ts", import.meta.url));
const words = process.versions.deno ? ["run", "-A", "--no-check", "-q", program] : [program];
const runs = isLong ? 200 : 2;
const ways = ["kill", "exit", "destroy", "uncaught", "SIGTERM", "folder", "descriptors"];
if (!cannotMount) ways.push("full", "stuck");

/** The lines of a run that have to be there, from one on. */
interface Expected {
  from: number;
  to: number;
  readonly way: string;
}

/** Runs a process that logs and ends in a given way; returns the lines that it reported as written. */
async function ended(directory: string, run: string, seed: number, way: string): Promise<Expected> {
  const below = randomNumbers(seed);
  const limited = [
    "-c",
    'ulimit -n 150; exec "$0" "$@"',
    process.execPath,
    ...words,
    directory,
    run,
    String(seed),
    way,
  ];
  const child: ChildProcess = spawn("sh", limited, { stdio: ["ignore", "pipe", "ignore"] });
  const expected = { from: 0, to: -1, way };
  const kill = (signal: NodeJS.Signals) => () => child.kill(signal);
  const limit = setTimeout(kill("SIGKILL"), LIMIT);
  let rest = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    if (expected.to === -1 && way === "kill") setTimeout(kill("SIGKILL"), below(300));
    if (expected.to === -1 && way === "SIGTERM") setTimeout(kill("SIGTERM"), below(300));
    for (const [word, count] of lines.map((line) => line.split(" "))) {
      if (word === "removed") expected.from = Number(count);
      else expected.to = Math.max(expected.to, Number(count));
    }
  });
  const [, signal] = await once(child, "close");
  clearTimeout(limit);
  assert.ok(signal !== "SIGKILL" || way === "kill", `${way}: the process did not end`);
  return expected;
}

/** Checks that the lines of each run are there that have to be, each once and in order; returns how many are torn. */
function checkLines(lines: readonly string[], expected: ReadonlyMap<string, Expected>, what: string): number {
  const found = new Map<string, number[]>();
  let torn = 0;
  for (const line of lines) {
    try {
      const { run, i } = JSON.parse(line) as { run: string; i: number };
      if (!found.has(run)) found.set(run, []);
      found.get(run)!.push(i);
    } catch {
      torn++;
    }
  }
  for (const [run, { from, to, way }] of expected) {
    const numbers = found.get(run) ?? [];
    const [first = 0] = numbers;
    assert.deepEqual(numbers, numbers.map((_, i) => first + i), `${what}: ${run}, ${way}: a line is lost or doubled`);
    assert.ok(first <= from, `${what}: ${run}, ${way}: lines from ${first} on of those from ${from} on`);
    assert.ok(first + numbers.length >= to, `${what}: ${run}, ${way}: ${first + numbers.length} lines of ${to}`);
  }
  return torn;
}

async function linesIn(directory: string): Promise<string[]> {
  return [...(await textsOf(directory)).values()].join("").split("\n").slice(0, -1);
}

async function endAtRandom(folder: string): Promise<void> {
  const start = Number(process.env.MILLRACE_SEED ?? Math.floor(Math.random() * 1e9));
  const below = randomNumbers(start);
  const directory = join(folder, "logs");
  const expected = new Map<string, Expected>();
  const signal = new AbortController();
  const seen: string[] = [];
  const options = { series: true, start: "beginning", interval: 5, signal: signal.signal } as const;
  const followed = await followFile(join(directory, "app.log"), options);
  const reading = (async () => {
    for await (const line of followed.pipeThrough(new LineStream())) seen.push(line);
  })();
  const what = `MILLRACE_SEED=${start}`;
  try {
    for (let i = 0; i < runs; i++) {
      const way = ways[isLong ? i % ways.length : below(ways.length)];
      const own = way === "folder" ? join(folder, `removed-${i}`) : directory;
      const lines = await ended(own, `r${i}`, below(1e9), way);
      assert.ok(lines.to >= 0, `${what}: ${way}: the process did not begin`);
      if (own === directory) expected.set(`r${i}`, lines);
      else checkLines(await linesIn(own), new Map([[`r${i}`, lines]]), what);
    }
    const last = await openLogDestination({ directory, name: "app.log", maxFileSize: 1000 });
    last.end(`${JSON.stringify({ run: "end", i: 0 })}\n`);
    await once(last, "close");
    await until(() => seen.at(-1)?.includes('"end"') ?? false, `${what}: the last line, followed`);
  } finally {
    signal.abort();
    await reading.catch(() => {});
  }
  // A follower may briefly see the beginning of a line that a permanently failed write has left.
  const kills = [...expected.values()].filter(({ way }) => way === "kill" || way === "stuck").length;
  assert.ok(checkLines(seen, expected, `${what}, followed`) <= kills, `${what}: torn lines, followed`);
  assert.ok(checkLines(await linesIn(directory), expected, what) <= kills, `${what}: torn lines in the files`);
}

test(
  "every line of a log that was told written is there, once and in order, in the files and for a follower, however its processes end",
  { skip: needs("signals") },
  () => cannotMount ? inFolder(endAtRandom) : onSmallDisk(isLong ? 400_000 : 20_000, endAtRandom),
);
