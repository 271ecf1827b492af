import { failsWith, failure, sameAsNative } from "./drop_in_comparison.ts";
import type { StreamClasses } from "./drop_in_implementations.ts";
import { type Bytes, byteSources, utf8, watched } from "./drop_in_streams.ts";

const pieces = ["one,", "twenty-two,", "three,", "4"];
const byteKinds = ["a byte stream", "a byte stream that fills the reader's buffer"] as const;
const readers: Readonly<Record<string, (stream: ReadableStream<Bytes>) => ReadableStreamBYOBReader>> = {
  'stream.getReader({ mode: "byob" })': (stream) => stream.getReader({ mode: "byob" }),
  "new globalThis.ReadableStreamBYOBReader(response.body)": (stream) => {
    return new globalThis.ReadableStreamBYOBReader(new Response(stream).body!);
  },
  'response.body.getReader({ mode: "byob" })': (stream) => new Response(stream).body!.getReader({ mode: "byob" }),
  "the native getReader called on the stream": (stream) => {
    return nativeGetReader.call(stream, { mode: "byob" });
  },
};
// The method that the runtime's own code calls, even if the class of the stream overrides it.
const nativeGetReader = globalThis.ReadableStream.prototype.getReader as (
  this: ReadableStream,
  options: { mode: "byob" },
) => ReadableStreamBYOBReader;

async function readInto(reader: ReadableStreamBYOBReader, size: number): Promise<string[]> {
  const read: string[] = [];
  let buffer = new ArrayBuffer(size);
  while (true) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) return [...read, `closed with ${value?.byteLength} of ${value?.buffer.byteLength}`];
    read.push(new TextDecoder().decode(value));
    buffer = value.buffer as ArrayBuffer;
  }
}

for (const kind of byteKinds) {
  for (const [name, readerOf] of Object.entries(readers)) {
    sameAsNative(`${name} of ${kind} fills the caller's buffer`, async (streams) => {
      const read = await readInto(readerOf(byteSources[kind]!(streams, pieces)), 5);
      return { content: read.slice(0, -1).join(""), end: read.at(-1) };
    }, { expected: { content: pieces.join(""), end: "closed with 0 of 5" } });
  }

  sameAsNative(`read(view, { min }) of ${kind} waits for enough`, async (streams) => {
    const reader = byteSources[kind]!(streams, pieces).getReader({ mode: "byob" });
    const { value } = await reader.read(new Uint8Array(64), { min: 12 });
    return value!.byteLength >= 12;
  }, { expected: true });

  sameAsNative(`${kind} read in bytes by a native tee gives both branches everything`, async (streams) => {
    const stream = byteSources[kind]!(streams, pieces);
    const branches = globalThis.ReadableStream.prototype.tee.call(stream) as ReadableStream<Bytes>[];
    return await Promise.all(branches.map((branch) => new Response(branch).text()));
  }, { expected: [pieces.join(""), pieces.join("")] });
}

sameAsNative("a buffer given to a BYOB read is detached until the read is over", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8), { type: "bytes", delay: 1 });
  const reader = new Response(stream).body!.getReader({ mode: "byob" });
  const view = new Uint8Array(4);
  const reading = reader.read(view);
  const during = view.byteLength;
  const { value } = await reading;
  return { during, after: view.byteLength, value: new TextDecoder().decode(value) };
}, { expected: { during: 0, after: 0, value: "one," } });

sameAsNative("a BYOB reader of a body takes no default stream", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8));
  return [
    await failure(() => stream.getReader({ mode: "byob" })),
    await failure(() => new Response(stream).body!.getReader({ mode: "byob" })),
  ];
}, { expected: ["TypeError", "TypeError"] });

sameAsNative("a source's error reaches the BYOB reader of a body", async (streams) => {
  const reason = new RangeError("source broke");
  const { stream } = watched(streams, [utf8("ab")], { type: "bytes", failure: reason });
  const reader = new Response(stream).body!.getReader({ mode: "byob" });
  const { value } = await reader.read(new Uint8Array(8));
  return [value!.byteLength, await failsWith(reason, () => reader.read(new Uint8Array(8)))];
}, { expected: [2, true] });

sameAsNative("a BYOB reader's cancel() reaches the source with its reason", async (streams) => {
  const { stream, cancelled } = watched(streams, pieces.map(utf8), { type: "bytes" });
  const reason = new Error("unwanted");
  await new Response(stream).body!.getReader({ mode: "byob" }).cancel(reason);
  return await cancelled === reason;
}, { expected: true });

sameAsNative("views of every element type can be filled", async (streams: StreamClasses) => {
  const bytes = Uint8Array.from({ length: 48 }, (_, i) => i + 1);
  const types: readonly (new (buffer: ArrayBuffer) => ArrayBufferView)[] = [
    Int8Array,
    Uint8ClampedArray,
    Uint16Array,
    Int32Array,
    Float32Array,
    BigUint64Array,
    DataView,
  ];
  const results: unknown[] = [];
  for (const Type of types) {
    const reader = new Response(watched(streams, [bytes.slice()], { type: "bytes" }).stream).body!
      .getReader({ mode: "byob" });
    const { value } = await reader.read(new Type(new ArrayBuffer(16)) as Uint8Array<ArrayBuffer>);
    results.push([value!.constructor.name, [...new Uint8Array(value!.buffer, 0, value!.byteLength)]]);
  }
  return results;
});
