/**
 * A program that ends with an error if streams take much of codecs' memory, or an unused codec stays open. It is a
 * separate process: `bun test` and `deno test` run many files in one process, in which others may use codecs.
 */
import assert from "node:assert/strict";
import { openEncoder, releaseIdleInstances } from "../../lib/codecs/internal.ts";
import { ready } from "../../lib/codecs/mod.ts";
import { asking, CODINGS, loaded, soon, textOf } from "./responses.ts";

const HTML = { "content-type": "text/html" };

/** Functions that return the codecs' memory in use; memory grown in advance is untouched. */
const memories: (() => number)[] = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
    super(module, imports);
    memories.push(this.exports.memory_used as () => number);
  }
};

/** Whether any instance of a codec is in use; idle ones are released. */
function isAnyInUse(): boolean {
  releaseIdleInstances();
  return releaseIdleInstances();
}

// Codecs that were idle since the last look are released, and others stay.
{
  await ready(["gzip"], "compress");
  const encoder = openEncoder("gzip", { level: 6 });
  assert.ok(isAnyInUse());
  encoder.close();
  assert.ok(releaseIdleInstances(), "it was used since the last look");
  assert.ok(!releaseIdleInstances(), "it is idle, and still held");
  assert.ok(openEncoder("gzip", { level: 6 }).finish().length > 0);
}

// Streams of pages take little memory each; of zstd's, half is never touched.
for (const [coding, most] of [["gzip", 300], ["br", 300], ["zstd", 360]] as const) {
  const compression = await loaded();
  isAnyInUse();
  memories.length = 0;
  const readers = await Promise.all(Array.from({ length: 64 }, async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(textOf(4000))),
    });
    const reader = compression.respond(asking(coding), new Response(body, { headers: HTML })).body!.getReader();
    await soon(reader.read(), "nothing comes");
    return reader;
  }));
  const bytes = memories.reduce((sum, used) => sum + used(), 0);
  assert.ok(bytes <= 64 * most * 1024, `${coding}: ${bytes / 64} bytes a stream`);
  await Promise.all(readers.map((reader) => reader.cancel()));
}

// The highest levels take little memory, too: for such windows zstd 22 has small tables instead of its 640 MiB.
for (
  const [coding, level, most] of [["zstd", 22, 1200], ["zstd", 12, 900], ["br", 11, 1200], ["gzip", 12, 400]] as const
) {
  const compression = await loaded({ levels: { [coding]: level } });
  isAnyInUse();
  memories.length = 0;
  const readers = await Promise.all(Array.from({ length: 16 }, async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(textOf(4000))),
    });
    const reader = compression.respond(asking(coding), new Response(body, { headers: HTML })).body!.getReader();
    await soon(reader.read(), "nothing comes");
    return reader;
  }));
  const bytes = memories.reduce((sum, used) => sum + used(), 0);
  assert.ok(bytes <= 16 * most * 1024, `${coding} ${level}: ${bytes / 16} bytes a stream`);
  await Promise.all(readers.map((reader) => reader.cancel()));
}

// Respond: a stream takes no codec until it has begun, and none after it has ended or its client has left.
{
  const compression = await loaded();
  for (const coding of CODINGS) {
    let source!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
    const response = compression.respond(asking(coding), new Response(body, { headers: HTML }));
    const reader = response.body!.getReader();
    const first = reader.read();
    assert.ok(!isAnyInUse(), `${coding} is in use before there is anything to encode`);
    source.enqueue(new TextEncoder().encode(textOf(1000)));
    await soon(first, "nothing comes");
    assert.ok(isAnyInUse());
    await reader.cancel();
    assert.ok(!isAnyInUse(), `${coding} is in use after the client has left`);
  }
  const empty = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  const response = compression.respond(asking("gzip"), new Response(empty, { headers: HTML }));
  const decoded = response.body!.pipeThrough(
    new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>,
  );
  assert.equal(await new Response(decoded).text(), "");
  assert.ok(!isAnyInUse());
}
