import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { broadcast } from "../../lib/batch/mod.ts";
import { openFileReadable } from "../../lib/files/mod.ts";
import { ReadableBody } from "../../lib/http/response/readable_body.ts";
import { ResponseBody } from "../../lib/http/response/response_body.ts";
import { fromNative, ReadableStream, toNative } from "../../lib/streams/mod.ts";
import { inFolder } from "../support/folders.ts";
import { pause, turn, within } from "../support/waits.ts";

type BytesClass = new (length: number) => Uint8Array<ArrayBuffer>;
type Bytes = globalThis.ReadableStream<Uint8Array<ArrayBuffer>>;
const Own = ReadableStream as unknown as typeof globalThis.ReadableStream;

test("a view of an iterable that is a thenable is resolved, as any other thenable", async () => {
  let lookups = 0;
  const view = Object.defineProperty(new Uint8Array(3), "then", {
    get: () => {
      lookups++;
      return (resolve: (value: unknown) => void) => resolve("what it was waiting for");
    },
  });
  const found: unknown[] = [];
  for await (const chunk of ReadableStream.from([view, "next"] as unknown[])) found.push(chunk);
  assert.deepEqual(found, ["what it was waiting for", "next"]);
  assert.equal(lookups, 1);
});

test("bytes beyond the last whole element of a view are kept for the next read, wherever the view begins", async () => {
  for (const byteOffset of [0, 2]) {
    const stream = new ReadableStream({
      type: "bytes",
      pull: ({ byobRequest }) => {
        const { buffer, byteOffset } = byobRequest!.view!;
        new Uint8Array(buffer, byteOffset).set([1, 2, 3]);
        byobRequest!.respond(3);
      },
    });
    const reader = stream.getReader({ mode: "byob" });
    const { value } = await reader.read(new Uint16Array(new ArrayBuffer(10), byteOffset, 4));
    assert.deepEqual([...new Uint8Array(value!.buffer, value!.byteOffset, value!.byteLength)], [1, 2]);
    assert.deepEqual((await reader.read(new Uint8Array(4))).value, Uint8Array.of(3));
  }
});

/** Bytes that come in a later turn, and their end, in the same turn or later. */
interface Sent {
  readonly length: number;
  readonly endsLater: boolean;
}

async function send({ length, endsLater }: Sent, give: (bytes: Uint8Array<ArrayBuffer>) => void, end: () => void) {
  await turn();
  give(new Uint8Array(length));
  if (endsLater) await pause(1);
  end();
}

/** A stream whose source awaits nothing; close() may throw to it. */
function pushed(Stream: typeof globalThis.ReadableStream, sent: Sent): Bytes {
  return new Stream({
    type: "bytes",
    start: (controller) =>
      void send(sent, (bytes) => controller.enqueue(bytes), () => controller.close()).catch(() => {}),
  });
}

/** A native stream whose source fills views. */
function pulled({ length, endsLater }: Sent): Bytes {
  return new globalThis.ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: 16,
    async pull(controller) {
      await turn();
      if (length > 0) controller.byobRequest!.respond(length);
      else controller.close();
      if (endsLater && length > 0) await pause(1);
      if (length === 0) controller.byobRequest!.respond(0);
      length = 0;
    },
  });
}

function body(sent: Sent): ReadableBody {
  const body = new ResponseBody({ consumed() {}, cancel() {} });
  void send(sent, (bytes) => body.push(bytes), () => body.end());
  return new ReadableBody(body);
}

/** All byte streams of this package that close. */
const SOURCES: Record<string, (sent: Sent, folder: string) => ReadableStream | Promise<ReadableStream>> = {
  "fromNative()": (sent) => fromNative(pushed(globalThis.ReadableStream, sent)),
  "fromNative() of a source that fills views": (sent) => fromNative(pulled(sent)),
  "a body of HttpClient": (sent) => body(sent).stream,
  "a clone of one": (sent) => body(sent).clone().stream,
  "broadcast()": (sent) => broadcast(pushed(Own, sent))[0],
  "openFileReadable()": async ({ length }, folder) => {
    const path = join(folder, randomUUID());
    await writeFile(path, new Uint8Array(length));
    return openFileReadable(path);
  },
};

const WAYS: Record<string, (stream: Bytes) => Bytes> = {
  "read itself": (stream) => stream,
  "by toNative()": (stream) => toNative(stream),
  "by both bridges": (stream) => fromNative(toNative(stream)) as Bytes,
  "by a branch": (stream) => stream.tee()[0],
  "by the other branch": (stream) => stream.tee()[1],
};

const VIEWS = [Uint8Array, Uint16Array, Float64Array] as unknown as BytesClass[];

/** Returns the number of bytes that were read, and whether all were. */
async function readInto(
  View: BytesClass,
  stream: Bytes,
): Promise<{ read: number; isWhole: boolean }> {
  const reader = stream.getReader({ mode: "byob" });
  for (let read = 0;;) {
    try {
      const { done, value } = await reader.read(new View(4));
      if (done) return { read, isWhole: true };
      read += value.byteLength;
    } catch (error) {
      assert.ok(error instanceof TypeError);
      await assert.rejects(reader.closed, TypeError);
      return { read, isWhole: false };
    }
  }
}

// An error that is uncaught fails the test.
for (const [source, open] of Object.entries(SOURCES)) {
  for (const [way, via] of Object.entries(WAYS)) {
    test(`only reads reject if bytes end within an element: ${source}, ${way}`, () =>
      inFolder(async (folder) => {
        const cases = VIEWS.flatMap((View) =>
          [1, 3, 8, 9].flatMap((length) => [false, true].map((endsLater) => ({ View, length, endsLater })))
        );
        await Promise.all(cases.map(async ({ View, ...sent }) => {
          const rest = sent.length % new View(0).BYTES_PER_ELEMENT;
          const stream = via(await open(sent, folder) as Bytes);
          const expected = { read: sent.length - rest, isWhole: rest === 0 };
          assert.deepEqual(await within(readInto(View, stream), JSON.stringify([View.name, sent])), expected);
        }));
        await pause(5);
      }));
  }
}
