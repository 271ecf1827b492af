import assert from "node:assert/strict";
import { DecompressionStream, type Format } from "../../lib/codecs/mod.ts";
import { type Compression, type CompressionOptions, createCompression } from "../../lib/compression/mod.ts";

export const CODINGS = ["zstd", "br", "gzip"] as const;

const formats: Readonly<Record<string, Format>> = { zstd: "zstd", br: "brotli", gzip: "gzip" };

/** Returns a text of about `length` bytes that shrinks well. */
export function textOf(length: number): string {
  let text = "";
  for (let i = 0; text.length < length; i++) {
    text += `<p>The mill turns for the ${i}th time, and the race runs on.</p>\n`;
  }
  return text.slice(0, length);
}

/** Creates a compression whose codecs are loaded, and that may not warn. */
export async function loaded(options: CompressionOptions = {}): Promise<Compression> {
  const compression = createCompression({ onWarning: (reason) => assert.fail(reason), ...options });
  await compression.ready();
  return compression;
}

/** Returns a request for `/`, with an `Accept-Encoding` if one is given. */
export function asking(accepted?: string, method = "GET"): Request {
  return new Request("http://localhost/", {
    method,
    headers: accepted === undefined ? {} : { "accept-encoding": accepted },
  });
}

/** Decodes a response's body by its `Content-Encoding`. */
export function decoded(response: Response): ReadableStream<Uint8Array> {
  const coding = response.headers.get("content-encoding");
  if (coding === null || response.body === null) return response.body ?? new Blob([]).stream();
  const stream = new DecompressionStream(formats[coding]);
  return response.body.pipeThrough(stream as unknown as ReadableWritablePair<Uint8Array, Uint8Array>);
}

export async function textIn(response: Response): Promise<string> {
  return await new Response(decoded(response)).text();
}

/** Reads until `text` has arrived; fails after 10 s. */
export async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, text: string): Promise<string> {
  const decoder = new TextDecoder();
  let seen = "";
  while (!seen.includes(text)) {
    const read = await soon(reader.read(), `only ${JSON.stringify(seen)} has arrived`);
    assert.ok(!read.done, `it ended after ${JSON.stringify(seen)}`);
    seen += decoder.decode(read.value, { stream: true });
  }
  return seen;
}

/** Settles as `promise` does; fails if it does not within 10 s. */
export async function soon<T>(promise: Promise<T>, otherwise: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), 30_000);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
