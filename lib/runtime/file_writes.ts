/** The parts of Bun's API used here. */
interface BunFiles {
  readonly version: string;
  file(descriptor: number): object;
  write(file: object, content: Response): Promise<number>;
}

const bun = (globalThis as { Bun?: BunFiles }).Bun;

/**
 * Whether what comes from a socket is best written to files at once, without waiting for another thread: Bun holds a
 * sender back only when it has buffered more than 1 MB of each connection.
 */
export const writesAtOnce: boolean = bun !== undefined;

/** Whether `writev()` of `node:fs` copies what it is given into one piece, twice: Deno does. */
export const copiesVectors: boolean = "Deno" in globalThis;

/**
 * Writes all of a stream to an open file, without a detour through JavaScript if the stream is the body of a request
 * of the runtime's own server; resolves to the number of bytes. Undefined where there is no such way. It cannot be
 * stopped: the file must stay open until the promise is settled. Before Bun 1.4.1 such bodies are waited for for ever.
 */
export const writeStream: ((descriptor: number, stream: ReadableStream<Uint8Array>) => Promise<number>) | undefined =
  bun && isSince(bun.version, [1, 4, 1])
    ? (descriptor, stream) => bun.write(bun.file(descriptor), new Response(stream))
    : undefined;

/** Whether a version is one of those from `first` on. */
function isSince(version: string, first: readonly number[]): boolean {
  const parts = version.split(/[.-]/, first.length).map(Number);
  const different = first.findIndex((part, i) => parts[i] !== part);
  return different < 0 || parts[different] > first[different];
}
