import { assertEqual, type Check, type Library } from "./check.ts";

async function inBatches({ BatchedWritableStream, ReadableStream }: Library): Promise<string> {
  const batches: number[][] = [];
  const rows = new BatchedWritableStream<number>({
    maxBatch: 400,
    writev: async (batch) => {
      batches.push([...batch]);
      await Promise.resolve();
    },
  }, { highWaterMark: 4096 });
  await ReadableStream.from(Array.from({ length: 1000 }, (_, index) => index)).pipeTo(rows);
  assertEqual(batches.flat().length, 1000);
  assertEqual(batches.every((batch) => batch.length <= 400), true);
  assertEqual(batches.length < 20, true);
  return `1,000 chunks in ${batches.length} batches`;
}

/** Writes a batch that only the end of the event loop's turn completes. */
async function atEndOfTurn({ BatchedWritableStream }: Library): Promise<string> {
  let arrived: (batch: string[]) => void = () => {};
  const first = new Promise<string[]>((resolve) => arrived = resolve);
  const stream = new BatchedWritableStream<string>({ writev: (batch) => arrived([...batch]) });
  const writer = stream.getWriter();
  const written = ["a", "b", "c"].map((chunk) => writer.write(chunk));
  assertEqual(await first, ["a", "b", "c"]);
  await Promise.all(written);
  await writer.close();
  return "three writes in one batch";
}

async function joined({ coalesceBytes, ReadableStream }: Library): Promise<string> {
  const small = Array.from({ length: 1000 }, () => new Uint8Array(100));
  let [bytes, chunks] = [0, 0];
  for await (const chunk of ReadableStream.from(small).pipeThrough(coalesceBytes({ size: 16_384 }))) {
    bytes += chunk.length;
    chunks++;
  }
  assertEqual(bytes, 100_000);
  assertEqual(chunks < 100, true);
  return `1,000 chunks became ${chunks}`;
}

async function numbersToAndFro(library: Library): Promise<string> {
  const numbers = Array.from({ length: 10_000 }, (_, index) => index / 8 - 100);
  const lines = library.ReadableStream.from(numbers).pipeThrough(new library.NumberToLineStream());
  const read = await Array.fromAsync(lines.pipeThrough(new library.LineToNumberStream()));
  assertEqual(read, numbers);
  return "10,000 numbers";
}

/** Batched writers and text: nothing of the codecs either. */
export const batchChecks: readonly Check[] = [
  { name: "BatchedWritableStream writes in batches", run: inBatches },
  { name: "a batch starts at the end of the event loop's turn", run: atEndOfTurn },
  { name: "coalesceBytes() joins small chunks", run: joined },
  { name: "numbers become lines and numbers again", run: numbersToAndFro },
];
