import {
  addAbortSignal,
  Duplex,
  finished,
  isErrored,
  isReadable,
  PassThrough,
  Readable,
  Transform,
  Writable,
} from "node:stream";
import * as consumers from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { eventually, failsWith, failure, quiet, sameAsNative, sameAsNode } from "./drop_in_comparison.ts";
import { type Bytes, byteSources, utf8, watched } from "./drop_in_streams.ts";

// node:stream/web's types and the DOM's are the same at run time.
type NodeReadable = Parameters<typeof Readable.fromWeb>[0];
type NodeWritable = Parameters<typeof Writable.fromWeb>[0];
type NodePair = Parameters<typeof Duplex.fromWeb>[0];
const asNode = (stream: ReadableStream): NodeReadable => stream as unknown as NodeReadable;
const asNodeWritable = (stream: WritableStream): NodeWritable => stream as unknown as NodeWritable;

const pieces = ['{ "a":', ' "grüße",', ' "b": [1, 2] }'];
const text = pieces.join("");

for (const [kind, make] of Object.entries(byteSources)) {
  sameAsNative(`stream/consumers read ${kind}`, async (streams) => {
    const stream = (): NodeReadable => asNode(make(streams, pieces));
    return {
      text: await consumers.text(stream()),
      json: await consumers.json(stream()),
      buffer: (await consumers.buffer(stream())).toString(),
      arrayBuffer: (await consumers.arrayBuffer(stream())).byteLength,
      blob: await (await consumers.blob(stream())).text(),
    };
  }, {
    expected: { text, json: JSON.parse(text), buffer: text, arrayBuffer: utf8(text).length, blob: text },
  });

  sameAsNative(`Readable.fromWeb() reads ${kind}`, async (streams) => {
    const stream = make(streams, pieces);
    const readable = Readable.fromWeb(asNode(stream));
    const chunks: Uint8Array[] = [];
    for await (const chunk of readable) chunks.push(chunk);
    return { text: Buffer.concat(chunks).toString(), destroyed: readable.destroyed };
  }, { expected: { text, destroyed: true } });

  sameAsNative(`pipeline() from ${kind} into a node:stream works as natively`, async (streams) => {
    const out = new PassThrough();
    const arrived = consumers.text(out);
    const result = await eventually(failure(() => pipeline(asNode(make(streams, pieces)), out)));
    if (result !== "nothing") out.destroy();
    return { result, arrived: await arrived.catch(() => "nothing arrived") };
  });
}

sameAsNative("Readable.fromWeb() locks the stream when it does natively", async (streams) => {
  const { stream } = watched(streams, pieces.map(utf8));
  const readable = Readable.fromWeb(asNode(stream));
  const before = stream.locked;
  await new Promise((resolve) => readable.once("data", resolve));
  const reading = stream.locked;
  readable.destroy();
  await quiet();
  return { before, reading, destroyed: stream.locked };
});

sameAsNative("Readable.fromWeb() fails with the source's own error", async (streams) => {
  const reason = new RangeError("source broke");
  const { stream } = watched(streams, [utf8("a")], { failure: reason });
  return await failsWith(reason, () => consumers.text(Readable.fromWeb(asNode(stream))));
}, { expected: true });

sameAsNative("destroying what Readable.fromWeb() made cancels the source with the error", async (streams) => {
  const reason = new RangeError("unwanted");
  const { stream, cancelled } = watched(streams, pieces.map(utf8));
  const readable = Readable.fromWeb(asNode(stream)).on("error", () => {});
  readable.destroy(reason);
  return await eventually(cancelled.then((given) => given === reason));
});

sameAsNative("what Readable.fromWeb() made does not read ahead of its own mark", async (streams) => {
  const chunks = Array.from({ length: 100 }, (_, i) => utf8(String(i)));
  const { stream, given } = watched(streams, chunks, { highWaterMark: 0 });
  const readable = Readable.fromWeb(asNode(stream), { highWaterMark: 2, objectMode: true });
  readable.on("error", () => {}).on("readable", () => {});
  await quiet();
  const ahead = given();
  readable.destroy();
  return ahead;
});

sameAsNative("Readable.toWeb() is piped through a transform into a writable", async (streams) => {
  const arrived: string[] = [];
  const upper = new streams.TransformStream<Bytes, string>({
    transform: (chunk, controller) => controller.enqueue(new TextDecoder().decode(chunk).toUpperCase()),
  });
  const source = Readable.toWeb(Readable.from(pieces.map((piece) => Buffer.from(piece)))) as ReadableStream<Bytes>;
  await source.pipeThrough(upper).pipeTo(new streams.WritableStream({ write: (chunk) => void arrived.push(chunk) }));
  return arrived.join("");
}, { expected: text.toUpperCase() });

sameAsNative("Writable.toWeb() takes what is piped into it", async (streams) => {
  const out = new PassThrough();
  const arrived = consumers.text(out);
  await watched(streams, pieces.map(utf8)).stream.pipeTo(Writable.toWeb(out) as WritableStream<Bytes>);
  return await arrived;
}, { expected: text });

sameAsNative("Writable.fromWeb() writes to, ends and destroys a writable", async (streams) => {
  const seen: unknown[] = [];
  const sink = (): UnderlyingSink<Bytes> => ({
    write: (chunk) => void seen.push(new TextDecoder().decode(chunk)),
    close: () => void seen.push("close"),
    abort: (reason) => void seen.push((reason as Error)?.message),
  });
  const stream = new streams.WritableStream(sink());
  const writable = Writable.fromWeb(asNodeWritable(stream));
  const locked = stream.locked;
  await pipeline(Readable.from(pieces.map((piece) => Buffer.from(piece))), writable);
  const destroyed = Writable.fromWeb(asNodeWritable(new streams.WritableStream(sink()))).on("error", () => {});
  destroyed.destroy(new Error("enough"));
  await quiet();
  return { locked, seen };
});

sameAsNative("Writable.fromWeb() waits for a slow sink", async (streams) => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const stream = new streams.WritableStream({ write: () => gate }, { highWaterMark: 1 });
  const writable = Writable.fromWeb(asNodeWritable(stream), { highWaterMark: 4 });
  const free = [1, 2, 3, 4, 5, 6].map(() => writable.write("x"));
  open();
  await new Promise<void>((ended) => writable.end(ended));
  return free;
});

sameAsNative("Duplex.fromWeb() runs a transform as a node:stream", async ({ TransformStream }) => {
  const upper = new TransformStream<Bytes, string>({
    transform: (chunk, controller) => controller.enqueue(new TextDecoder().decode(chunk).toUpperCase()),
    flush: (controller) => controller.enqueue("!"),
  });
  const duplex = Duplex.fromWeb(upper as unknown as NodePair);
  const [arrived] = await Promise.all([
    consumers.text(duplex),
    pipeline(Readable.from(pieces.map((piece) => Buffer.from(piece))), duplex).catch(() => {}),
  ]);
  return arrived;
}, { expected: `${text.toUpperCase()}!` });

sameAsNative("Duplex.toWeb() stands in the middle of pipes", async (streams) => {
  const upper = new Transform({ transform: (chunk, _, done) => done(null, String(chunk).toUpperCase()) });
  const pair = Duplex.toWeb(upper) as unknown as ReadableWritablePair<Bytes, Bytes>;
  return await new Response(watched(streams, pieces.map(utf8)).stream.pipeThrough(pair)).text();
}, { expected: text.toUpperCase() });

sameAsNative("pipeline() of streams alone works as natively", async (streams) => {
  const arrived: string[] = [];
  const sink = new streams.WritableStream<string>({ write: (chunk) => void arrived.push(chunk) });
  const upper = async function* (source: AsyncIterable<Bytes>): AsyncGenerator<string> {
    for await (const chunk of source) yield new TextDecoder().decode(chunk).toUpperCase();
  };
  const source = asNode(watched(streams, pieces.map(utf8)).stream);
  const result = await eventually(failure(() => pipeline(source, upper, asNodeWritable(sink))));
  return { result, arrived };
});

sameAsNative("finished() tells when a stream has closed, or why it failed", async (streams) => {
  const reason = new RangeError("source broke");
  const ended = (stream: ReadableStream): Promise<unknown> => {
    return eventually(new Promise((resolve) => finished(asNode(stream) as never, resolve)), 500);
  };
  const { stream: read } = watched(streams, pieces);
  const readToItsEnd = ended(read);
  await Array.fromAsync(read);
  return {
    closed: await ended(new streams.ReadableStream({ start: (controller) => controller.close() })),
    failed: await ended(new streams.ReadableStream({ start: (controller) => controller.error(reason) })) === reason,
    read: await readToItsEnd,
  };
}, { expected: { closed: undefined, failed: true, read: undefined } });

sameAsNative("addAbortSignal() fails a stream when its signal is aborted", async (streams) => {
  const abort = new AbortController();
  const stream = new streams.ReadableStream();
  addAbortSignal(abort.signal, asNode(stream) as never);
  const read = failure(() => stream.getReader().read());
  abort.abort();
  return await eventually(read);
}, { expected: "AbortError" });

sameAsNode("Readable.isDisturbed(), isErrored() and isReadable() tell a stream's state", async (streams) => {
  const isDisturbed = Readable.isDisturbed as (stream: unknown) => boolean;
  const read = watched(streams, pieces).stream;
  await read.getReader().read();
  const all = {
    fresh: new streams.ReadableStream(),
    read,
    failed: new streams.ReadableStream({ start: (controller) => controller.error(new Error("no")) }),
    closed: new streams.ReadableStream({ start: (controller) => controller.close() }),
  };
  const answers = Object.entries(all).map(([name, stream]) => {
    const asked = asNode(stream) as never;
    return [name, { disturbed: isDisturbed(asked), errored: isErrored(asked), readable: isReadable(asked) }];
  });
  return Object.fromEntries(answers);
}, {
  expected: {
    fresh: { disturbed: false, errored: false, readable: true },
    read: { disturbed: true, errored: false, readable: true },
    failed: { disturbed: false, errored: true, readable: false },
    closed: { disturbed: false, errored: false, readable: false },
  },
});
