import test from "node:test";
import { join } from "node:path";
import process from "node:process";
import { releaseIdleInstances } from "../../lib/codecs/internal.ts";
import { output } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";
import { asking, loaded, readUntil } from "./responses.ts";

const HTML = { "content-type": "text/html" };

test("a stream takes no codec until it has begun, and none after it has ended or its client has left; idle ones are let go", async () => {
  const deno = runtime === "deno" ? ["run", "-A", "--no-check"] : [];
  await output(process.execPath, [...deno, join(root, "tests/compression/idle_codecs.ts")], root);
});

test("a stream goes on after other codecs were let go", async () => {
  const compression = await loaded();
  let source!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
  const response = compression.respond(asking("zstd"), new Response(body, { headers: HTML }));
  const { DecompressionStream } = await import("../../lib/codecs/mod.ts");
  const decoder = new DecompressionStream("zstd") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
  const reader = response.body!.pipeThrough(decoder).getReader();
  for (let i = 0; i < 4; i++) {
    source.enqueue(new TextEncoder().encode(`part ${i}.`));
    await readUntil(reader, `part ${i}.`);
    releaseIdleInstances();
  }
  await reader.cancel();
});
