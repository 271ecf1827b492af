/** A program that writes to a pipe, flushes during a write, and is killed at once. */
import process from "node:process";
import { openFileWritable } from "../../lib/files/mod.ts";

const stream = await openFileWritable(process.argv[2], { append: true });
const writer = stream.getWriter();
void writer.write("a".repeat(200_000));
await new Promise((resolve) => setTimeout(resolve, 20)); // the pipe is full: its reader sleeps
void writer.write("b".repeat(100_000));
stream.flushSync();
process.kill(process.pid, "SIGKILL");
