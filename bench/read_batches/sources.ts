import type { Classes } from "../streams/implementation.ts";
import { chunk, MARK, pulled, QUEUED, queued } from "../streams/scenario.ts";

/** The chunk that all sources enqueue: creating chunks is not measured. */
export const small: Uint8Array<ArrayBuffer> = chunk.slice(0, 64);
/** Chunks that arrive together, as of one packet. */
const PACKET = 16;

/** A source of small chunks: as a web stream, and as an iterable. */
export interface Source {
  readonly title: string;
  /** The number of chunks of one stream; default: as many as are requested. */
  readonly length?: number;
  stream(classes: Classes, count: number): ReadableStream<Uint8Array>;
  iterable(count: number): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** All sources, in the table's order. */
export const sources: readonly Source[] = [
  {
    title: "one chunk a pull",
    stream: ({ ReadableStream }, count) => new ReadableStream(pulled(count, small), MARK),
    async *iterable(count) {
      for (let i = 0; i < count; i++) yield small;
    },
  },
  {
    title: `${QUEUED} chunks queued`,
    length: QUEUED,
    stream: ({ ReadableStream }) => new ReadableStream(queued(QUEUED, small)),
    iterable: () => Array.from({ length: QUEUED }, () => small),
  },
  {
    title: `${PACKET} chunks a turn of the event loop`,
    stream: ({ ReadableStream }, count) => {
      let left = count;
      return new ReadableStream({
        async pull(controller) {
          await turn();
          for (let i = Math.min(PACKET, left); i > 0; i--) controller.enqueue(small);
          left -= PACKET;
          if (left <= 0) controller.close();
        },
      }, MARK);
    },
    async *iterable(count) {
      for (let i = 0; i < count; i++) {
        if (i % PACKET === 0) await turn();
        yield small;
      }
    },
  },
];

function turn(): Promise<void> {
  return new Promise((ended) => setImmediate(ended));
}
