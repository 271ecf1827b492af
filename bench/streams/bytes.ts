import { times } from "./piping.ts";
import { CHUNK_SIZE, QUEUED, readAll, type Scenario } from "./scenario.ts";

/** Sixteen chunks: the mark of a byte stream counts bytes. */
const BYTES = { highWaterMark: 16 * CHUNK_SIZE };
const BUFFER = 64 * 1024;

/** Byte streams. They take each chunk's buffer away, so that each chunk is a new one. */
export const bytes: readonly Scenario[] = [
  {
    title: "byte stream, pull, read",
    unit: 1,
    run: ({ ReadableStream }, amount) => readAll(new ReadableStream({ type: "bytes", pull: enqueues(amount) })),
  },
  {
    title: "byte stream, pull, read, mark 16 KiB",
    unit: 1,
    run: ({ ReadableStream }, amount) => readAll(new ReadableStream({ type: "bytes", pull: enqueues(amount) }, BYTES)),
  },
  {
    title: "byte stream, enqueue all then read",
    unit: QUEUED,
    run: ({ ReadableStream }, amount) =>
      times(amount, () =>
        readAll(
          new ReadableStream({
            type: "bytes",
            start(controller) {
              for (let i = 0; i < QUEUED; i++) controller.enqueue(new Uint8Array(CHUNK_SIZE));
              controller.close();
            },
          }),
        )),
  },
  {
    title: "BYOB read of 64 KiB, source responds",
    unit: 1,
    run: ({ ReadableStream }, amount) =>
      readInto(new ReadableStream({ type: "bytes", pull: responds(amount) }), BUFFER),
  },
  {
    title: "BYOB read, source enqueues",
    unit: 1,
    run: ({ ReadableStream }, amount) =>
      readInto(new ReadableStream({ type: "bytes", pull: enqueues(amount) }), CHUNK_SIZE),
  },
];

type Pull = (controller: ReadableByteStreamController) => void;

function enqueues(count: number): Pull {
  let left = count;
  return (controller) => {
    controller.enqueue(new Uint8Array(CHUNK_SIZE));
    if (--left === 0) controller.close();
  };
}

/** Responds to the reader's own buffer, like a source over `fs.read`, but without filling it. */
function responds(count: number): Pull {
  let left = count;
  return (controller) => {
    const { byobRequest } = controller;
    if (!byobRequest) throw new TypeError("a pull for a BYOB read comes without a byobRequest");
    if (left-- > 0) return byobRequest.respond(byobRequest.view!.byteLength);
    controller.close();
    byobRequest.respond(0);
  };
}

/** Reads to the end into one buffer, handed over and got back with each read; chunks are of `size` bytes. */
async function readInto(source: ReadableStream<Uint8Array>, size: number): Promise<number> {
  const reader = source.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(BUFFER);
  let sum = 0;
  while (true) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done) return sum / size;
    sum += value.byteLength;
    buffer = value.buffer as ArrayBuffer;
  }
}
