import assert from "node:assert/strict";
import { BatchedWritableStream, coalesceBytes } from "../../../lib/batch/mod.ts";
import { fromNative, ReadableStream, toNative, TransformStream, WritableStream } from "../../../lib/streams/mod.ts";
import { LineStream, LineToNumberStream, NumberToLineStream } from "../../../lib/text/mod.ts";
import type { Scene } from "../scene.ts";

const endings = ["well", "well", "well", "cancelled", "source fails", "sink fails", "aborted"] as const;

function source(count: number, fails: boolean): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller): void {
      if (fails && sent === 3) controller.error(new Error("source fails"));
      else if (sent++ < count) controller.enqueue(new Uint8Array(40));
      else controller.close();
    },
  });
}

/** A short stream through a transform and, by turns, native streams in between. */
async function shortStream(index: number): Promise<void> {
  const ending = endings[index % endings.length];
  const passOn = new TransformStream<Uint8Array, Uint8Array>();
  let readable: globalThis.ReadableStream<Uint8Array> = source(5, ending === "source fails").pipeThrough(passOn);
  if (index % 3 === 1) readable = fromNative(toNative(readable as ReadableStream<Uint8Array>));
  if (index % 5 === 1) readable = readable.pipeThrough(coalesceBytes({ size: 100 }));
  if (ending === "cancelled") return await readable.cancel("enough");
  let received = 0;
  const write = (chunk: Uint8Array): void => {
    if (ending === "sink fails") throw new Error(ending);
    received += chunk.length;
  };
  const sink = index % 2 === 0
    ? new WritableStream<Uint8Array>({ write })
    : new BatchedWritableStream<Uint8Array>({ writev: (chunks) => chunks.forEach(write) });
  const abort = new AbortController();
  if (ending === "aborted") abort.abort(new Error(ending));
  try {
    await readable.pipeTo(sink, { signal: abort.signal });
    assert.equal(received, 200);
  } catch (error) {
    assert.equal((error as Error).message, ending);
  }
}

export const streams: Scene = {
  name: "streams",
  what: "700 short streams of every ending, with native ones in between, tees, and a long pipe of numbers",
  open: () => ({
    async round(): Promise<void> {
      for (let i = 0; i < 700; i++) await shortStream(i);
      for (let i = 0; i < 50; i++) {
        const [one, other] = source(5, false).tee();
        await Promise.all(i % 2 ? [one.cancel(), other.cancel()] : [Array.fromAsync(one), other.cancel()]);
      }
      const numbers = ReadableStream.from(Array.from({ length: 20_000 }, (_, i) => i));
      const back = numbers.pipeThrough(new NumberToLineStream()).pipeThrough(new LineToNumberStream());
      let sum = 0;
      for await (const number of back) sum += number;
      assert.equal(sum, 199_990_000);
      const lines = ReadableStream.from([new TextEncoder().encode("a\nb\n".repeat(2000))]).pipeThrough(
        new LineStream(),
      );
      assert.equal((await Array.fromAsync(lines)).length, 4000);
    },
    close: () => Promise.resolve(),
  }),
};
