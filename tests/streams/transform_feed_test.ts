import assert from "node:assert/strict";
import test from "node:test";
import { TransformFeed } from "../../lib/streams/native/feeds/transform_feed.ts";
import { createTransformStream } from "../../lib/streams/transform/transform_stream.ts";
import { within } from "../support/waits.ts";

/**
 * A native transform stream over this package's state that doubles numbers, as where the native side of a stream cannot
 * be made lazily. The runtimes of the tests never do that, but some supported ones do.
 */
function doubling(): TransformStream<number, number> {
  const state = createTransformStream((state) => ({
    transform: (chunk) => state.enqueue(2 * (chunk as number)),
    flush: () => state.enqueue(-1),
    cancel: () => {},
  }));
  return new TransformStream(new TransformFeed(state) as Transformer<number, number>);
}

async function all(stream: ReadableStream<number>): Promise<number[]> {
  const found: number[] = [];
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) found.push(read.value);
  return found;
}

function numbers(): ReadableStream<number> {
  return new ReadableStream({
    start(controller) {
      for (const number of [1, 2, 3]) controller.enqueue(number);
      controller.close();
    },
  });
}

test("a native side passes chunks, those of flush() and the end through our transform", async () => {
  assert.deepEqual(await within(all(numbers().pipeThrough(doubling())), "the end"), [2, 4, 6, -1]);
});

test("a native side that is aborted errors with the reason", async () => {
  const { readable, writable } = doubling();
  const reason = new Error("enough");
  await within(writable.abort(reason), "abort()");
  await assert.rejects(within(readable.getReader().read(), "read()"), reason);
});
