import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { compress, CompressionStream, DecompressionStream, formats, levels } from "../../lib/codecs/mod.ts";
import { collected, streamOf } from "../support/streams.ts";
import { concatenated, noise, sourceText } from "../support/bytes.ts";

test("DecompressionStream() produces only what the reader asks for, however much a chunk holds", async () => {
  const bomb = await compress(new Uint8Array(64 * 2 ** 20), { format: "zstd", level: 3 });
  const { readable, writable } = new DecompressionStream("zstd");
  const writer = writable.getWriter();
  const written = writer.write(bomb).then(() => "written");
  const reader = readable.getReader();
  const first = await reader.read();
  assert.ok(first.value!.length <= 64 * 1024);
  const waiting = await Promise.race([written, new Promise((resolve) => setTimeout(resolve, 20, "waiting"))]);
  assert.equal(waiting, "waiting");
  await reader.cancel("enough");
  await written.catch(() => {});
});

test("CompressionStream() holds a fast writer back while nobody reads", async () => {
  const { readable, writable } = new CompressionStream("deflate-raw", { level: 1 });
  let sent = 0;
  const chunk = noise(64 * 1024);
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller): void {
      sent++;
      controller.enqueue(chunk);
    },
  }, { highWaterMark: 0 });
  const piped = source.pipeTo(writable).catch((error) => error);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(sent <= 4, `${sent} chunks went in although none came out`);
  await readable.cancel(new Error("over"));
  assert.equal((await piped).message, "over");
});

test("cancelling the readable end fails later writes with the reason", async () => {
  const { readable, writable } = new CompressionStream("zstd", { level: 1 });
  await readable.cancel(new Error("no longer wanted"));
  await assert.rejects(writable.getWriter().write(new Uint8Array(10)), { message: "no longer wanted" });
});

test("aborting the writable end fails the reader with the reason, also while a write waits", async () => {
  const { readable, writable } = new CompressionStream("brotli", { level: 1 });
  const writer = writable.getWriter();
  const reader = readable.getReader();
  const writes = [writer.write(noise(200_000)), writer.write(noise(200_000))].map((write) => write.catch(() => {}));
  assert.equal((await reader.read()).done, false);
  await writer.abort(new Error("stopped"));
  await assert.rejects(reader.read(), { message: "stopped" });
  await Promise.all(writes);
});

test("an error of the source reaches the reader of the compressed stream", async () => {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller): void {
      controller.error(new Error("source broke"));
    },
  });
  await assert.rejects(collected(source.pipeThrough(new CompressionStream("gzip"))), { message: "source broke" });
});

test("many streams run side by side on one thread", async () => {
  const inputs = Array.from({ length: 40 }, (_, i) => sourceText(30_000, i + 1));
  const formats = ["zstd", "brotli", "gzip"] as const;
  const outputs = await Promise.all(inputs.map((bytes, i) => {
    const format = formats[i % 3]!;
    return collected(
      streamOf([bytes.subarray(0, 10_000), bytes.subarray(10_000)])
        .pipeThrough(new CompressionStream(format, { level: 4 }))
        .pipeThrough(new DecompressionStream(format)),
    );
  }));
  assert.deepEqual(outputs, inputs);
});

test("the streams take the place of the runtime's own in pipeThrough() and Response", async () => {
  const bytes = sourceText(50_000);
  const body = new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip", { level: 6 })));
  const native = new globalThis.DecompressionStream("gzip");
  const back = body.body!.pipeThrough(native as unknown as TransformStream<Uint8Array, Uint8Array>);
  assert.deepEqual(await collected(back), bytes);
});

test("no input gives a valid empty stream", async () => {
  for (const format of ["zstd", "brotli", "gzip", "deflate", "deflate-raw"] as const) {
    const small = streamOf<Uint8Array<ArrayBuffer>>([]).pipeThrough(new CompressionStream(format));
    assert.equal((await collected(small.pipeThrough(new DecompressionStream(format)))).length, 0);
  }
});

test("CompressionStream() that flushes gives each chunk at once", async () => {
  const dictionary = sourceText(5000, 7);
  for (const format of formats) {
    const options = format === "dcb" || format === "dcz" ? { dictionary } : {};
    for (const size of [1, 1000, 300_000]) {
      const chunks = [sourceText(size), sourceText(size, 2), sourceText(size, 3)];
      const compressed = new CompressionStream(format, { ...options, level: 5, flush: true });
      const reader = compressed.readable.pipeThrough(new DecompressionStream(format, options)).getReader();
      const writer = compressed.writable.getWriter();
      const writes: Promise<void>[] = [];
      for (const chunk of chunks) {
        writes.push(writer.write(chunk)); // nothing after it: all of it has to come without that
        const parts: Uint8Array[] = [];
        for (let length = 0; length < size;) {
          const { value } = await reader.read();
          parts.push(value!);
          length += value!.length;
        }
        assert.deepEqual(concatenated(parts), chunk, format);
      }
      writes.push(writer.close());
      assert.equal((await reader.read()).done, true);
      await Promise.all(writes);
    }
  }
});

test("a stream's default level is what levels names for streams, and that of whole bytes what it names for these", async () => {
  const bytes = sourceText(60_000);
  const dictionary = sourceText(5000, 7);
  for (const format of formats) {
    const options = format === "dcb" || format === "dcz" ? { dictionary } : {};
    const streamed = (level?: number): Promise<Uint8Array> =>
      collected(streamOf([bytes]).pipeThrough(new CompressionStream(format, { ...options, level })));
    assert.deepEqual(await streamed(), await streamed(levels[format].stream), format);
    const best = await compress(bytes, { format, ...options, level: levels[format].default });
    assert.deepEqual(await compress(bytes, { format, ...options }), best, format);
    assert.ok(levels[format].stream < levels[format].default);
  }
});

test("the classes have the standard's members: enumerable getters that refuse other objects, and a name", () => {
  for (const Codec of [CompressionStream, DecompressionStream as unknown as typeof CompressionStream]) {
    class Derived extends Codec {
      readonly own: string = "kept";
    }
    for (const stream of [new Codec("gzip"), new Derived("gzip")]) {
      assert.equal(String(stream), `[object ${Codec.name}]`);
      assert.deepEqual(Object.keys(stream).filter((key) => key !== "own"), []);
      assert.equal(stream.readable, stream.readable);
      assert.match(inspect(stream), new RegExp(`^${Codec.name} \\{\\s+readable: [^]*writable: `));
    }
    assert.equal(new Derived("gzip").own, "kept");
    assert.ok(new Derived("gzip") instanceof Derived);
    for (const name of ["readable", "writable"]) {
      const { get, set, enumerable, configurable } = Object.getOwnPropertyDescriptor(Codec.prototype, name)!;
      assert.deepEqual([set, enumerable, configurable], [undefined, true, true]);
      assert.throws(() => get!.call({}), TypeError);
      assert.throws(() => Reflect.get(Codec.prototype, name), TypeError);
    }
  }
});
