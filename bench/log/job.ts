/** Writes lines by one contestant, and says how long that took: CONTESTANT COUNT MAX_FILE_SIZE DIRECTORY TIMES. */
import { writeFileSync } from "node:fs";
import process from "node:process";
import { sayTimesOf } from "../timed_job.ts";
import { contestants } from "./contestants.ts";
import { lineOf } from "./lines.ts";

const [contestant, count, maxFileSize, directory, times] = process.argv.slice(2);
/** The interval between timed calls, in calls. */
const EACH = 7;
/** The number of calls by their time, in tenths of a microsecond. */
const counts = new Uint32Array(1_000_000);

const open = await contestants[contestant]();
await sayTimesOf(async () => {
  const sink = await open(directory, Number(maxFileSize));
  for (let i = 0; i < Number(count); i++) {
    const line = lineOf(i);
    let wait: Promise<unknown> | undefined;
    if (i % EACH === 0) {
      const start = performance.now();
      wait = sink.write(line);
      counts[Math.min(counts.length - 1, Math.floor((performance.now() - start) * 10_000))]++;
    } else {
      wait = sink.write(line);
    }
    if (wait !== undefined) await wait;
  }
  await sink.end();
});
let left = counts.reduce((sum, one) => sum + one) / 100;
let at = counts.length - 1;
for (; at > 0 && left > counts[at]; at--) left -= counts[at];
writeFileSync(times, String((at + 1) / 10));
