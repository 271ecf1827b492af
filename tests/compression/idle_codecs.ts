/**
 * A program that ends with an error if a codec is held that nothing uses. It has a process of its own: `bun test` and `deno
 * test` have one for many files, and others may use codecs.
 */
import assert from "node:assert/strict";
import { openEncoder, releaseIdleInstances } from "../../lib/codecs/internal.ts";
import { ready } from "../../lib/codecs/mod.ts";
import { asking, CODINGS, loaded, soon, textOf } from "./responses.ts";

const HTML = { "content-type": "text/html" };

/** Whether any instance of a codec is in use; those that are not are let go. */
function isAnyInUse(): boolean {
  releaseIdleInstances();
  return releaseIdleInstances();
}

// Codecs that nothing has used since the last look are let go, and others stay.
{
  await ready(["gzip"], "compress");
  const encoder = openEncoder("gzip", { level: 6 });
  assert.ok(isAnyInUse());
  encoder.close();
  assert.ok(releaseIdleInstances(), "it was used since the last look");
  assert.ok(!releaseIdleInstances(), "it is idle, and still held");
  assert.ok(openEncoder("gzip", { level: 6 }).finish().length > 0);
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
