/** A page's content, whichever streams carry it: a source of chunks and three stages for each chunk. */

/** The number of chunks the source renders. */
export const CHUNKS = 40;

/** The number of chunks before a source's pause, and the pause in milliseconds. */
export const PAUSE_AFTER = 10;
export const PAUSE = 5;

/** Renders a chunk of about 100 bytes. */
export function renderChunk(index: number): string {
  if (index === 0) return '<!doctype html><html lang="en"><head><title>A page of 40 chunks</title></head><body><ul>\n';
  return `<li id="item-${index}"><a href="/items/${index}">Item ${index}</a> costs ${index * 7} and is in stock</li>\n`
    .padEnd(102, " ");
}

/** Returns the first stage's addition after the last chunk: the initial data of the page's script. */
export function hydration(): string {
  return `</ul><script type="application/json">{"items":${CHUNKS - 1}}</script>\n`;
}

/** Returns the second stage's addition after the last chunk: the end of the document. */
export function closing(): string {
  return "</body></html>\n";
}

const encoder = new TextEncoder();

/** Performs the third stage: encodes a string. */
export function encode(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Returns the whole page, as it must arrive. */
export function wholePage(): string {
  return Array.from({ length: CHUNKS }, (_, i) => renderChunk(i)).join("") + hydration() + closing();
}
