/**
 * Measures one way to read one source, both named by arguments. Prints a line when ready, then for each input line a
 * line with chunks a millisecond.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import type { Failure } from "../line_process.ts";
import type { Rate, Ready } from "../streams/measuring.ts";
import { type Source, sources } from "./sources.ts";
import { loadWay, type Read } from "./ways.ts";

/** The duration of one measurement, in milliseconds. */
const AIM = 60;
/** The number of measurements before the engine has settled on code. */
const WARM = 5;

async function time(read: Read, source: Source, chunks: number): Promise<number> {
  const { length = chunks } = source;
  const start = performance.now();
  for (let left = chunks; left > 0; left -= length) {
    const count = await read(source, length);
    if (count !== length) throw new TypeError(`${count} of ${length} chunks arrived`);
  }
  return performance.now() - start;
}

async function warmUp(read: Read, source: Source): Promise<number> {
  let chunks = source.length ?? 256;
  for (let sum = 0; sum < WARM * AIM;) {
    const milliseconds = await time(read, source, chunks);
    sum += milliseconds;
    const times = Math.min(AIM / milliseconds, 4);
    chunks = Math.ceil(chunks * times / (source.length ?? 1)) * (source.length ?? 1);
  }
  return chunks;
}

function say(line: Ready | Rate | Failure): void {
  console.log(JSON.stringify(line));
}

const [, , way, title] = process.argv;
try {
  const source = sources.find((each) => each.title === title)!;
  const read = await loadWay(way);
  say({ ready: true });
  let chunks = 0;
  for await (const _ of createInterface({ input: process.stdin })) {
    chunks ||= await warmUp(read, source);
    say({ rate: chunks / await time(read, source, chunks) });
  }
} catch (error) {
  say({ failure: String(error).split("\n")[0] });
}
process.exit();
