import test from "node:test";
import { CompressionStream } from "../../lib/codecs/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { within } from "../support/waits.ts";

const bytes = sourceText(2_000_000);

/** A stream that compresses `bytes`, whose output is read chunk by chunk. */
function begun(level: number) {
  const { readable, writable } = new CompressionStream("gzip", { level });
  const [reader, writer] = [readable.getReader(), writable.getWriter()];
  writer.closed.catch(() => {});
  return { reader, writing: writer.write(bytes).catch(() => {}) };
}

test("a write settles whenever its readable end is cancelled: between a step of the codec and its output, too", async () => {
  for (let microtasks = 0; microtasks < 12; microtasks++) {
    for (const level of [1, 6]) {
      // Steps of several streams run in one turn of the event loop, so that one's output may end another.
      const streams = Array.from({ length: 6 }, () => begun(level));
      await Promise.all(streams.map(async ({ reader }, i) => {
        for (let chunks = 0; chunks < 4 && !(await reader.read()).done; chunks++);
        for (let k = 0; k < microtasks; k++) await undefined;
        const next = streams[(i + 1) % streams.length];
        await next.reader.cancel("enough");
        await within(next.writing, `${microtasks} microtasks after another stream's output`, 20_000);
      }));
    }
  }
});
