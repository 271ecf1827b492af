/** The part of Bun's file API used here. */
interface BunFiles {
  file(path: string): Blob;
}

/**
 * The bytes of a file from `start` to `end` as a body that the runtime's server sends by itself, with its length;
 * undefined where there is no such. The file is opened when the body is sent.
 *
 * Bun's server sends every stream in chunks, without `Content-Length`; what it knows to be a file goes out with it, and
 * twice as fast.
 */
export function fileSlice(path: string, start: number, end: number): Blob | undefined {
  const { Bun } = globalThis as { Bun?: BunFiles };
  return Bun?.file(path).slice(start, end);
}
