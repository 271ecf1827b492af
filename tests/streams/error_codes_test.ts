import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import process from "node:process";
import { PassThrough } from "node:stream";
import test from "node:test";
import { fileURLToPath } from "node:url";
import * as streams from "../../lib/streams/mod.ts";
import { output } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { native, type StreamClasses } from "./differential/implementations.ts";

interface Coded {
  readonly name: string;
  readonly code: unknown;
}

/** Misuses of the given classes, with Node's error code; undefined for the runtime's own. */
const misuses: readonly (readonly [string, string | undefined, (classes: StreamClasses) => unknown])[] = [
  ["a locked stream is read", "ERR_INVALID_STATE", ({ ReadableStream }) => {
    const stream = new ReadableStream();
    stream.getReader();
    stream.getReader();
  }],
  ["a locked stream is cancelled", "ERR_INVALID_STATE", ({ ReadableStream }) => {
    const stream = new ReadableStream();
    stream.getReader();
    return stream.cancel();
  }],
  ["a chunk after close()", "ERR_INVALID_STATE", ({ ReadableStream }) => {
    new ReadableStream({
      start(controller) {
        controller.close();
        controller.enqueue(1);
      },
    });
  }],
  ["a released reader", "ERR_INVALID_STATE", ({ ReadableStream }) => {
    const reader = new ReadableStream().getReader();
    reader.releaseLock();
    return reader.read();
  }],
  ["a locked destination", "ERR_INVALID_STATE", ({ WritableStream }) => {
    const stream = new WritableStream();
    stream.getWriter();
    stream.getWriter();
  }],
  ["another mode", "ERR_INVALID_ARG_VALUE", ({ ReadableStream }) => {
    new ReadableStream().getReader({ mode: "fast" as "byob" });
  }],
  ["another type", "ERR_INVALID_ARG_VALUE", ({ ReadableStream }) => {
    new ReadableStream({ type: "text" as "bytes" });
  }],
  ["a mark below 0", "ERR_INVALID_ARG_VALUE", ({ ReadableStream }) => {
    new ReadableStream({}, { highWaterMark: -1 });
  }],
  ["no source", "ERR_INVALID_ARG_TYPE", ({ ReadableStream }) => {
    new ReadableStream(1 as never);
  }],
  ["no function", "ERR_INVALID_ARG_TYPE", ({ ReadableStream }) => {
    new ReadableStream({ pull: 1 as never });
  }],
  ["another object", undefined, ({ ReadableStream }) => ReadableStream.prototype.cancel.call({} as never)],
];

async function thrownBy(steps: () => unknown): Promise<Coded> {
  try {
    await steps();
  } catch (error) {
    return { name: (error as Error).name, code: (error as { code?: unknown }).code };
  }
  throw new assert.AssertionError({ message: "nothing was thrown" });
}

for (const [name, code, misuse] of misuses) {
  test(`an error has the class and the code that the runtime gives to its own: ${name}`, async () => {
    const ours = await thrownBy(() => misuse(streams as unknown as StreamClasses));
    const own = await thrownBy(() => misuse(native));
    assert.equal(ours.code, code ?? own.code);
    assert.equal(ours.name, own.name);
    if (runtime === "node") assert.equal(ours.code, own.code);
  });
}

test("a string is no source of a stream", () => {
  assert.throws(() => streams.ReadableStream.from("text"), { name: "TypeError", code: "ERR_ARG_NOT_ITERABLE" });
  assert.throws(() => streams.ReadableStream.from(1 as never), TypeError);
});

test("where a stream of node:stream is not taken, the error names the function that makes a web stream of it", async () => {
  const { pipeThrough, pipeTo, ReadableStream, WritableStream } = streams;
  const node = new PassThrough() as never;
  const pair = { readable: new ReadableStream(), writable: node };
  await assert.rejects(pipeTo(node, new WritableStream()), /the source must be .* fromNodeReadable\(\)/);
  await assert.rejects(pipeTo(new ReadableStream(), node), /the destination must be .* fromNodeWritable\(\)/);
  assert.throws(() => pipeThrough(new ReadableStream(), pair), /writable must be .* fromNodeWritable\(\)/);
  assert.throws(() => pipeThrough(node, pair), /the source must be .* fromNodeReadable\(\)/);
  await assert.rejects(pipeTo(undefined as never, new WritableStream()), /the source must be a ReadableStream$/);
});

test("with our streams installed, a body that is cancelled fails nowhere", async () => {
  const program = join(dirname(fileURLToPath(import.meta.url)), "cancelled_bodies.ts");
  const flags = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  assert.deepEqual(JSON.parse(await output(process.execPath, [...flags, program], dirname(program))), []);
});
