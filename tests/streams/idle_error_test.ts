import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream, WritableStream, type WritableStreamDefaultController } from "../../lib/streams/mod.ts";

const sources: Readonly<Record<string, typeof globalThis.ReadableStream>> = {
  native: globalThis.ReadableStream,
  ours: ReadableStream as unknown as typeof globalThis.ReadableStream,
};

for (const [name, Source] of Object.entries(sources)) {
  for (const chunks of [0, 1]) {
    test(`a stream of ours that errors by itself ends a pipe of a source that is ${name} and has given ${chunks}`, async () => {
      let controller: WritableStreamDefaultController;
      const destination = new WritableStream<number>({ start: (made) => void (controller = made) });
      let cancelledWith: unknown = undefined;
      const source = new Source<number>({
        start: (controller) => void (chunks > 0 && controller.enqueue(1)),
        cancel: (reason) => void (cancelledWith = reason),
      });
      const piped = source.pipeTo(destination as globalThis.WritableStream<number>);
      await new Promise((resolve) => setTimeout(resolve, 5)); // nothing more is to come of the source
      const failure = new Error("the visitor has left");
      controller!.error(failure);
      await assert.rejects(piped, failure);
      assert.equal(cancelledWith, failure);
    });
  }
}
