/**
 * Runs blocks one after the other, each in its folder: `start.ts end|stay BLOCK REPORT [BLOCK REPORT ...]`. Copied beside
 * a block, as everything it imports is the runtime's. What a block prints is noted in its report with its line, and its
 * end. After `stay` the process is ended, after `end` nothing of the blocks may keep it.
 */
import { appendFileSync } from "node:fs";
import process from "node:process";
import { setImmediate, setTimeout } from "node:timers";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const [ending, ...words] = process.argv.splice(2);
let report = "";
const MOMENT = 150; // ms for errors to come after the end, if something, as a server, keeps the process

function note(event: object): void {
  appendFileSync(report, JSON.stringify(event) + "\n");
}

/** Returns the line of the block that prints, or 0 if it is called by others. */
function callingLine(): number {
  Error.stackTraceLimit = 50;
  const stack = new Error().stack!;
  Error.stackTraceLimit = 10;
  return Number(/[/\\]example\.[jt]s:(\d+)/.exec(stack)?.[1] ?? 0);
}

for (const method of ["log", "info", "warn", "error", "debug"] as const) {
  const print = console[method];
  console[method] = (...values: unknown[]) => {
    note({ line: callingLine(), text: format(...values) });
    print.apply(console, values);
  };
}

for (let i = 0; i < words.length; i += 2) {
  report = words[i + 1];
  process.chdir(dirname(words[i]));
  await import(pathToFileURL(words[i]).href);
  note({ ended: true });
}
// A turn later: on a busy machine this timer and one of the block fall due together, and Bun reports a rejection after
// both.
if (ending === "stay") setTimeout(() => setImmediate(() => process.exit()), MOMENT).unref();
