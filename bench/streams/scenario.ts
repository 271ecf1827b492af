import type { Implementation } from "./implementation.ts";

/** A row of the table. */
export interface Scenario {
  readonly title: string;
  /** The unit of the counts, if not chunks. */
  readonly counted?: "streams";
  /** The number of chunks (or streams) in one unit of the amount: the chunks of a stream where streams are short. */
  readonly unit: number;
  /** Moves `amount` units and resolves to the number of chunks (or streams) that came out at the far end. */
  run(classes: Implementation, amount: number): Promise<number> | number;
}

/** The high-water mark of all long streams, in chunks. */
export const MARK: Readonly<QueuingStrategy<Uint8Array>> = { highWaterMark: 16 };

/** Bytes of a chunk of a long stream. */
export const CHUNK_SIZE = 1024;

/** The chunk that all sources enqueue: creating chunks is not measured. */
export const chunk: Uint8Array<ArrayBuffer> = new Uint8Array(CHUNK_SIZE).fill(0x61);

/** Returns a source of `count` chunks, one a pull. */
export function pulled(count: number, bytes: Uint8Array<ArrayBuffer> = chunk): UnderlyingDefaultSource<Uint8Array> {
  let left = count;
  return {
    pull(controller) {
      controller.enqueue(bytes);
      if (--left === 0) controller.close();
    },
  };
}

/** The number of chunks of a stream that is filled before it is read. */
export const QUEUED = 1024;

/** Returns a source that has its `count` chunks when the stream is made. */
export function queued(count: number, bytes: Uint8Array<ArrayBuffer> = chunk): UnderlyingDefaultSource<Uint8Array> {
  return {
    start(controller) {
      for (let i = 0; i < count; i++) controller.enqueue(bytes);
      controller.close();
    },
  };
}

/** A synchronous sink that counts its chunks, and bytes: half a chunk lost is a loss too. */
export class CountingSink implements UnderlyingSink<Uint8Array> {
  chunks = 0;
  bytes = 0;

  write({ byteLength }: Uint8Array): void | Promise<void> {
    this.chunks++;
    this.bytes += byteLength;
  }

  /** Returns the number of chunks of `size` bytes. */
  count(size: number = CHUNK_SIZE): number {
    return whole(this.chunks, this.bytes, size);
  }
}

/** Returns the number of chunks if all of them are of `size` bytes; otherwise NaN, which no row expects. */
export function whole(chunks: number, bytes: number, size: number): number {
  return bytes === chunks * size ? chunks : NaN;
}

/** Returns a source of `count` chunks at mark 16. */
export function longSource({ ReadableStream }: Implementation, count: number): ReadableStream<Uint8Array> {
  return new ReadableStream(pulled(count), MARK);
}

/** Pipes into a synchronous sink at mark 16 and resolves to the count. */
export async function pipeToCounter(
  { WritableStream, pipeTo }: Implementation,
  source: ReadableStream<Uint8Array>,
  options?: StreamPipeOptions,
): Promise<number> {
  const sink = new CountingSink();
  await pipeTo(source, new WritableStream<Uint8Array>(sink, MARK), options);
  return sink.count();
}

/** Reads to the end by `for await` and resolves to the number of chunks of `size` bytes. */
export async function iterate(source: ReadableStream<Uint8Array>, size: number = CHUNK_SIZE): Promise<number> {
  let chunks = 0;
  let bytes = 0;
  for await (const { byteLength } of source) {
    chunks++;
    bytes += byteLength;
  }
  return whole(chunks, bytes, size);
}

/** Reads to the end by a default reader and resolves to the number of chunks of `size` bytes. */
export async function readAll(source: ReadableStream<Uint8Array>, size: number = CHUNK_SIZE): Promise<number> {
  const reader = source.getReader();
  let chunks = 0;
  let bytes = 0;
  while (true) {
    const { done, value } = await reader.read();
    if (done) return whole(chunks, bytes, size);
    chunks++;
    bytes += value.byteLength;
  }
}
