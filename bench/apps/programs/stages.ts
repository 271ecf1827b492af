import { Buffer } from "node:buffer";

const encoder = new TextEncoder();
const END_OF_HEAD = "</head>";

/** The tag that the first stage inserts into the page's head. */
export const HEAD_TAG = '<link rel="preload" href="/app.js" as="script">';

/** The end of a page that went through all stages. */
export const LAST: RegExp = /<\/html><!-- \d+ bytes -->$/;

/** Inserts a tag before the end of the page's head, if the chunk has it. */
export function insertHead(chunk: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const at = text.indexOf(END_OF_HEAD);
  if (at === -1) return chunk as Uint8Array<ArrayBuffer>;
  return Buffer.concat([text.subarray(0, at), encoder.encode(HEAD_TAG), text.subarray(at)]);
}

/** Returns the comment that the last stage adds. */
export function endOf(bytes: number): Uint8Array<ArrayBuffer> {
  return encoder.encode(`<!-- ${bytes} bytes -->`);
}
