import { fromPrintable } from "../printable.ts";

/** Unpacks data that deflate compressed to `length` bytes. */
export async function unpacked(text: string, length: number): Promise<Uint8Array> {
  const stream = new Blob([fromPrintable(text, length)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
