/**
 * Logs lines, and ends in the way of the fourth argument. Prints `told N` when N lines are in the files, `accepted N`
 * when all N must be in the files after the end, and `removed N` when the first N were removed with their folder. The
 * arguments before are the folder, the name of the run, and the seed of random numbers.
 */
import { closeSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import type * as Pino from "../../lib/pino/mod.ts";
import { faceOf } from "../support/built_faces.ts";
import { randomNumbers } from "../support/random_numbers.ts";

const { openLogDestination }: typeof Pino = await import(faceOf("pino"));
const [directory, run, seed, way] = process.argv.slice(2);
const below = randomNumbers(Number(seed));
const log = await openLogDestination({
  directory,
  name: "app.log",
  maxFileSize: 3000 + below(30_000),
  ...[{}, { compress: "gzip" as const }, { compress: "zstd" as const }][below(3)],
  onWarning: () => {},
});
let next = 0;
// It is ended long before, unless its test has ended by a time limit.
setTimeout(() => process.exit(1), 120_000).unref();

/** Logs a line, and prints the numbers of some lines once their callbacks have acknowledged them. */
function write(): void {
  const line = `${JSON.stringify({ run, i: next++, text: "x".repeat(below(200)) })}\n`;
  const count = next;
  if (below(20) > 0) log.write(line);
  else log.write(line, (error) => error || print("told", count));
}

function print(word: string, count: number): void {
  for (;;) {
    try {
      return void writeSync(1, `${word} ${count}\n`);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") throw error;
    }
  }
}

/** Flushes, and prints which lines are on the disk by then. */
async function flush(): Promise<void> {
  const count = next;
  await log.flush().then(() => print("told", count), () => {});
}

const isEndless = way === "kill" || way === "SIGTERM";
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Logs some lines at random. */
async function go(lines: number): Promise<void> {
  for (const last = next + lines; next < last;) {
    for (let i = below(50); i >= 0; i--) write();
    const what = below(5);
    if (what === 0) await flush();
    else if (what < 3) await pause(below(2));
  }
}

process.on("exit", () => {
  if (way === "stuck") return rmSync(join(directory, `filler-${run}`)); // its last lines are lost, and reported as lost
  if (!log.destroyed && !log.writableEnded) write(); // behind the listener of the destination
  print("accepted", next);
});
if (process.versions.deno) {
  globalThis.addEventListener("error", () => {
    log.flushSync();
    print("accepted", next);
  });
}
process.once("SIGTERM", () => process.exit());

await flush();
await go(isEndless ? Infinity : below(3000));
if (way === "exit") process.exit();
if (way === "uncaught") throw new Error("as it is meant to");
if (way === "destroy") log.destroy();
if (way === "folder") {
  rmSync(directory, { recursive: true });
  print("removed", next);
  await go(below(1000));
  await flush();
  process.exit();
}
if (way === "full" || way === "stuck") {
  const filler = join(directory, `filler-${run}`);
  try {
    for (;;) writeFileSync(filler, new Uint8Array(65_536), { flag: "a" });
  } catch {
    // It is full.
  }
  await go(below(1000));
  if (way === "full") {
    await pause(below(1500));
    rmSync(filler);
  }
}
if (way === "descriptors") {
  const held: number[] = [];
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch {
    // There are no more.
  }
  for (let i = 0; i < 300; i++) write();
  await pause(below(1500));
  for (const descriptor of held) closeSync(descriptor);
}
if (way === "full" || way === "descriptors") {
  await go(below(300));
  log.end();
  await once(log, "close");
  process.exit();
}
