import assert from "node:assert/strict";
import { test } from "node:test";
import { makeNativeSideLazily } from "../../lib/streams/native/lazy/lazy_side.ts";
import { ReadableStream, TransformStream, WritableStream } from "../../lib/streams/mod.ts";

const nativeLocked = getterOf(globalThis.ReadableStream.prototype, "locked");
const nativeGetReader = globalThis.ReadableStream.prototype.getReader;
const nativeGetWriter = globalThis.WritableStream.prototype.getWriter;

const nativeGetters = [
  ["ReadableStream", nativeLocked, new ReadableStream()],
  ["WritableStream", getterOf(globalThis.WritableStream.prototype, "locked"), new WritableStream()],
  ["TransformStream", getterOf(globalThis.TransformStream.prototype, "readable"), new TransformStream()],
] as const;

for (const [name, getter, stream] of nativeGetters) {
  test(`the runtime takes a ${name} of ours for its own, but neither its prototype nor what inherits from that`, () => {
    assert.doesNotThrow(() => getter.call(stream));
    const prototype = Object.getPrototypeOf(stream);
    assert.throws(() => getter.call(prototype), TypeError);
    assert.throws(() => getter.call(Object.create(prototype)), TypeError);
  });

  test(`the runtime does not take a ${name} of ours for an AbortSignal`, () => {
    const aborted = getterOf(AbortSignal.prototype, "aborted");
    assert.throws(() => aborted.call(stream), TypeError);
  });

  test(`a ${name} that the runtime's constructor makes for our class is the runtime's`, () => {
    const native = Object.getPrototypeOf(stream.constructor.prototype).constructor;
    const made = Reflect.construct(native, [], stream.constructor);
    assert.equal(Object.getPrototypeOf(made), stream.constructor.prototype);
    assert.doesNotThrow(() => getter.call(made));
  });
}

test("a stream that closed before the runtime looked at it is read to its end by the runtime", async () => {
  const stream = new ReadableStream<string>({
    start(controller) {
      controller.enqueue("last");
      controller.close();
    },
  });
  const reader = nativeGetReader.call(stream) as ReadableStreamDefaultReader<string>;
  assert.deepEqual(await reader.read(), { done: false, value: "last" });
  assert.deepEqual(await reader.read(), { done: true, value: undefined });
});

test("a stream that errored before the runtime looked at it fails the runtime's reader and writer", async () => {
  const error = new Error("failed early");
  const readable = new ReadableStream({ start: (controller) => controller.error(error) });
  await assert.rejects((nativeGetReader.call(readable) as ReadableStreamDefaultReader).read(), error);
  const writable = new WritableStream({ start: (controller) => controller.error(error) });
  await assert.rejects(nativeGetWriter.call(writable).write("chunk"), error);
});

test("the runtime sees the lock of a reader that came before it looked, and its release", () => {
  const stream = new ReadableStream();
  const reader = stream.getReader();
  assert.equal(nativeLocked.call(stream), true);
  reader.releaseLock();
  assert.equal(nativeLocked.call(stream), false);
});

test("our streams see the lock of a native reader and writer, and their release", () => {
  const readable = new ReadableStream();
  const reader = nativeGetReader.call(readable);
  assert.equal(readable.locked, true);
  assert.throws(() => readable.getReader(), TypeError);
  reader.releaseLock();
  assert.equal(readable.locked, false);
  const writable = new WritableStream();
  const writer = nativeGetWriter.call(writable);
  assert.equal(writable.locked, true);
  writer.releaseLock();
  assert.equal(writable.locked, false);
});

test("the runtime reads a stream that was frozen before it looked", async () => {
  const reader = nativeGetReader.call(Object.freeze(ReadableStream.from(["a"]))) as ReadableStreamDefaultReader<string>;
  assert.equal((await reader.read()).value, "a");
});

test("ReadableStream.from() can be enumerated, and is no constructor", () => {
  const descriptor = Object.getOwnPropertyDescriptor(ReadableStream, "from")!;
  assert.equal(descriptor.enumerable && descriptor.writable && descriptor.configurable, true);
  assert.equal(ReadableStream.from.name, "from");
  assert.equal(ReadableStream.from.length, 1);
  assert.throws(() => Reflect.construct(ReadableStream.from, [[]]), TypeError);
});

/** A class that keeps what it knows out of reach, as most runtimes' streams do. */
class WithSlots {
  readonly #locked: boolean = false;
  get locked(): boolean {
    return this.#locked;
  }
}

const KNOWN = Symbol("known");

/** A class that has a property named by a symbol, but does not tell its objects by it. */
class WithBoth extends WithSlots {
  [KNOWN]: object = {};
  override get locked(): boolean {
    return super.locked;
  }
}

for (const Native of [WithSlots, WithBoth]) {
  test(`a class is left as it is if its native side cannot be made lazily: ${Native.name}`, () => {
    class Ours extends Native {}
    assert.equal(makeNativeSideLazily(Ours, Native, () => undefined), false);
    assert.equal(Object.getPrototypeOf(Ours), Native);
    assert.equal(new Ours().locked, false);
  });
}

// deno-lint-ignore no-explicit-any -- each getter has its own type
function getterOf(prototype: object, name: string): (this: object) => any {
  return Object.getOwnPropertyDescriptor(prototype, name)!.get!;
}
