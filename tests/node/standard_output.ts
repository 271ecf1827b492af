/**
 * Writes to standard output by one stream after the other. This is a separate process because the test reads its output
 * from outside.
 */
import process from "node:process";
import { fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";

const events = ["error", "finish", "close"];
const listeners = (): number => events.reduce((sum, event) => sum + process.stdout.listenerCount(event), 0);

const before = listeners();
for (let i = 0; i < 10; i++) await ReadableStream.from([String(i)]).pipeTo(fromNodeWritable<string>(process.stdout));
await ReadableStream.from(["first", "\n"]).pipeTo(fromNodeWritable<string>(process.stdout));
await fromNodeWritable(process.stdout).abort(new Error("enough"));
const writer = fromNodeWritable<string>(process.stdout).getWriter();
await writer.write("second\n");
await writer.close();
await ReadableStream.from(["third\n"]).pipeTo(fromNodeWritable<string>(process.stderr));
console.error("fourth");
console.log(`listeners: ${listeners() - before}`);
