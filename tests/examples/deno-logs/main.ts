/** Writes the slow and the failed requests of an access log into a compressed series: `main.ts access.log`. */
import { openFileReadable, RotatingFileWritable } from "@millrace/streams/files";
import { TransformStream } from "@millrace/streams/streams";
import { LineStream } from "@millrace/streams/text";
import { type Asked, readLine } from "./access_line.ts";

const SLOW = 500; // ms

const count = { lines: 0, kept: 0, unreadable: 0 };
const chosen = new TransformStream<string, string>({
  transform(line, controller) {
    count.lines++;
    const asked = readLine(line);
    if (asked === undefined) return void count.unreadable++;
    if (!isWorthKeeping(asked)) return;
    count.kept++;
    controller.enqueue(`${JSON.stringify(asked)}\n`);
  },
});

function isWorthKeeping({ status, ms }: Asked): boolean {
  return status >= 500 || ms >= SLOW;
}

const series = new RotatingFileWritable({
  directory: "slow",
  name: "slow.jsonl", // slow-00001.jsonl.zst, …
  append: true,
  maxFileSize: 64_000_000,
  maxFiles: 30,
  compress: "zstd",
});
const log = await openFileReadable(Deno.args[0]);
await log.pipeThrough(new LineStream()).pipeThrough(chosen).pipeTo(series, { preventClose: true });
await series.rotate(); // the file is complete, and is compressed; without it, the next run would continue it
await series.close();
console.log(`${count.lines} lines, ${count.kept} kept, ${count.unreadable} unreadable`);
