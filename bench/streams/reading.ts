import { times } from "./piping.ts";
import { chunk, CountingSink, longSource, MARK, pulled, QUEUED, queued, readAll, type Scenario } from "./scenario.ts";

/** Streams read by a reader, and written by a writer. */
export const reading: readonly Scenario[] = [
  {
    title: "read loop",
    unit: 1,
    run: (classes, amount) => readAll(longSource(classes, amount)),
  },
  {
    title: "read loop, mark 1",
    unit: 1,
    run: ({ ReadableStream }, amount) => readAll(new ReadableStream(pulled(amount))),
  },
  {
    title: "read loop, queued",
    unit: QUEUED,
    run: ({ ReadableStream }, amount) => times(amount, () => readAll(new ReadableStream(queued(QUEUED)))),
  },
  {
    title: "write loop (`await ready`)",
    unit: 1,
    async run({ WritableStream }, amount) {
      const sink = new CountingSink();
      const writer = new WritableStream(sink, MARK).getWriter();
      for (let i = 0; i < amount; i++) {
        await writer.ready;
        writer.write(chunk);
      }
      await writer.close();
      return sink.count();
    },
  },
  {
    title: "from(array)",
    unit: 1,
    run: ({ ReadableStream }, amount) => readAll(ReadableStream.from(new Array<Uint8Array>(amount).fill(chunk))),
  },
  {
    title: "from(generator)",
    unit: 1,
    run: ({ ReadableStream }, amount) => readAll(ReadableStream.from(generate(amount))),
  },
  {
    title: "from(async generator)",
    unit: 1,
    run: ({ ReadableStream }, amount) => readAll(ReadableStream.from(generateLater(amount))),
  },
];

function* generate(count: number): Generator<Uint8Array> {
  for (let i = 0; i < count; i++) yield chunk;
}

async function* generateLater(count: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < count; i++) yield chunk;
}
