import assert from "node:assert/strict";
import test from "node:test";
import { ReadableStream } from "../../lib/streams/mod.ts";

type Answer = (controller: ReadableByteStreamController) => void;

/** The ways to fulfill a BYOB read with the bytes 1 and 2. */
const answers: Readonly<Record<string, Answer>> = {
  "enqueue()": (controller) => controller.enqueue(Uint8Array.of(1, 2)),
  "respond()": ({ byobRequest }) => {
    const { view } = byobRequest!;
    new Uint8Array(view!.buffer, view!.byteOffset).set([1, 2]);
    byobRequest!.respond(2);
  },
  "respondWithNewView()": ({ byobRequest }) => {
    const { buffer, byteOffset } = byobRequest!.view!;
    const moved = new Uint8Array((buffer as ArrayBuffer).transfer(), byteOffset, 2);
    moved.set([1, 2]);
    byobRequest!.respondWithNewView(moved);
  },
};

/** Reads into the third to fifth of six bytes that are all 9. */
function readInto(stream: ReadableStream): Promise<ReadableStreamReadResult<Uint8Array<ArrayBuffer>>> {
  return stream.getReader({ mode: "byob" }).read(new Uint8Array(new Uint8Array(6).fill(9).buffer, 2, 3));
}

for (const [name, answer] of Object.entries(answers)) {
  test(`a view that a source has looked at is detached by ${name}`, async () => {
    let shown: Uint8Array | undefined;
    const { value } = await readInto(
      new ReadableStream({
        type: "bytes",
        pull(controller) {
          const request = controller.byobRequest!;
          shown = request.view as Uint8Array;
          assert.equal(request.view, shown, "the view is one object");
          assert.deepEqual([...new Uint8Array(shown.buffer)], [9, 9, 9, 9, 9, 9]);
          answer(controller);
          assert.equal(shown.byteLength, 0);
          assert.equal(request.view, null);
        },
      }),
    );
    assert.deepEqual([...value!], [1, 2]);
    assert.notEqual(value!.buffer, shown!.buffer);
    assert.deepEqual([...new Uint8Array(value!.buffer)], [9, 9, 1, 2, 9, 9]);
  });
}

test("a view that a source has not looked at cannot be had after an answer", async () => {
  const { value } = await readInto(
    new ReadableStream({
      type: "bytes",
      pull(controller) {
        const request = controller.byobRequest!;
        answers["enqueue()"](controller);
        assert.equal(request.view, null);
        assert.throws(() => request.respond(1), TypeError);
      },
    }),
  );
  assert.deepEqual([...new Uint8Array(value!.buffer)], [9, 9, 1, 2, 9, 9]);
});

test("respond() to a view that nobody has looked at gives the bytes that the reader lent", async () => {
  const { value } = await readInto(
    new ReadableStream({ type: "bytes", pull: ({ byobRequest }) => byobRequest!.respond(1) }),
  );
  assert.deepEqual([...value!], [9]);
});

test("a view whose buffer the source has taken away is not answered for", async () => {
  const reading = readInto(
    new ReadableStream({
      type: "bytes",
      pull(controller) {
        const request = controller.byobRequest!;
        (request.view!.buffer as ArrayBuffer).transfer();
        assert.throws(() => request.respond(1), TypeError);
        controller.enqueue(Uint8Array.of(1));
      },
    }),
  );
  await assert.rejects(reading, TypeError);
});

test("bytes that cannot be transferred are refused, and leave the reader's buffer as it was", async () => {
  const { buffer } = new WebAssembly.Memory({ initial: 1 });
  const { value } = await readInto(
    new ReadableStream({
      type: "bytes",
      pull(controller) {
        assert.throws(() => controller.enqueue(new Uint8Array(buffer, 0, 3)), TypeError);
        controller.enqueue(Uint8Array.of(1));
      },
    }),
  );
  assert.equal(buffer.byteLength, 65_536);
  assert.deepEqual([...new Uint8Array(value!.buffer)], [9, 9, 1, 9, 9, 9]);
});

test("bytes are read in order by views of any size, and by readers of either kind in turn", async () => {
  const sizes = [1, 7, 64, 3, 20, 100, 5];
  const total = 5_000;
  let given = 0;
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    type: "bytes",
    pull(controller) {
      for (let i = 0; i < 3; i++) {
        const chunk = Uint8Array.from({ length: sizes[given % sizes.length] + 4 }, (_, i) => given + i - 2);
        given += chunk.length - 4;
        controller.enqueue(chunk.subarray(2, -2)); // in the middle of a buffer
      }
    },
  }, { highWaterMark: 64 });
  const read: number[] = [];
  const earlier: { readonly bytes: Uint8Array; readonly content: readonly number[] }[] = [];
  const keep = (value: ArrayBufferView): void => {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    read.push(...bytes);
    earlier.push({ bytes, content: [...bytes] });
  };
  for (let turn = 0; read.length < total; turn++) {
    const byobReader = stream.getReader({ mode: "byob" });
    keep((await byobReader.read(new Uint8Array(sizes[turn % 4]))).value!);
    keep((await byobReader.read(new Uint16Array(sizes[turn % 5]))).value!);
    byobReader.releaseLock();
    const reader = stream.getReader();
    keep((await reader.read()).value!);
    reader.releaseLock();
  }
  assert.deepEqual(read, Array.from(read, (_, i) => i % 256));
  for (const { bytes, content } of earlier) assert.deepEqual([...bytes], content);
});
