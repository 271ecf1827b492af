/**
 * Writes to standard output until its reader has left, in the way of the argument, and prints the outcome. This is a
 * separate process because an unhandled error would end it.
 */
import process from "node:process";
import { fromNodeReadable, fromNodeWritable } from "../../lib/node/mod.ts";
import { ReadableStream } from "../../lib/streams/mod.ts";
import { Readable } from "node:stream";

const [way] = process.argv.slice(2);
const endless = (): ReadableStream<string> => new ReadableStream({ pull: (c) => c.enqueue("a line\n".repeat(100)) });

async function write(): Promise<void> {
  const output = fromNodeWritable<string>(process.stdout);
  if (way === "pipe") return await endless().pipeTo(output);
  if (way === "pipe, stay open") return await endless().pipeTo(output, { preventClose: true, preventAbort: true });
  if (way === "from a readable") {
    const lines = Readable.from((function* () {
      for (;;) yield "a line\n".repeat(100);
    })());
    return await fromNodeReadable<string>(lines).pipeTo(output);
  }
  const writer = output.getWriter();
  if (way === "abort") {
    for (;;) {
      const written = writer.write("a line\n".repeat(10_000));
      if (await Promise.race([written, new Promise((resolve) => setTimeout(resolve, 300, "stuck"))]) !== "stuck") {
        continue;
      }
      written.catch(() => {});
      writer.closed.catch(() => {});
      process.stderr.write("stuck\n"); // the reader leaves now, during a write
      await writer.abort(new Error("aborted"));
      await new Promise((resolve) => setTimeout(resolve, 300));
      throw Object.assign(new Error(), { code: "EPIPE" });
    }
  }
  for (;;) await writer.write("a line\n".repeat(100));
}

try {
  await write();
} catch (error) {
  process.stderr.write(`caught ${(error as { code?: string }).code}\n`);
  process.exitCode = 7;
}
