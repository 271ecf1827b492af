const encoder = new TextEncoder();

/** Returns a stream of chunks, one at a time when it is read; text as UTF-8. */
export function streamOf(chunks: readonly (Uint8Array | string)[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      if (next === chunks.length) return controller.close();
      const chunk = chunks[next++];
      controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
    },
  }, { highWaterMark: 0 });
}

/** Bytes in chunks of `size`. */
export function chunksOf(bytes: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size));
}

/** Returns a request as a server hands it over: with a stream for its body, and the fields that were sent. */
export function requestOf(chunks: readonly (Uint8Array | string)[], headers: Record<string, string> = {}): Request {
  const init = { method: "POST", body: streamOf(chunks), duplex: "half", headers };
  return new Request("http://localhost/", init as RequestInit);
}
