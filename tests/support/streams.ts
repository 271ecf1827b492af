import { concatenated } from "./bytes.ts";

/** Returns a stream of `pieces`. */
export function streamOf<T>(pieces: Iterable<T>): ReadableStream<T> {
  const iterator = pieces[Symbol.iterator]();
  return new ReadableStream<T>({
    pull(controller): void {
      const { done, value } = iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

/** Everything that `stream` delivers, in one piece. */
export async function collected(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  const reader = stream.getReader();
  for (let result = await reader.read(); !result.done; result = await reader.read()) parts.push(result.value);
  return concatenated(parts);
}
