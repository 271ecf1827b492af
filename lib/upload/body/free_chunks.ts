import { Socket } from "node:net";
import type { Readable } from "node:stream";

/** Smaller chunks are left to the garbage collector: freeing them takes longer than it is worth. */
const WORTHWHILE = 4 * 1024;

/**
 * Whether the chunks of a readable are nobody else's: those of a request of `node:http` are copies that the parser made,
 * if it comes from a connection, and nobody else listens to it. (In adapters' requests they are what the caller gave.)
 */
export function isOurs(readable: Readable): boolean {
  const { socket, httpVersionMajor } = readable as { socket?: unknown; httpVersionMajor?: unknown };
  return httpVersionMajor === 1 && socket instanceof Socket && socket.remoteFamily !== undefined &&
    readable.listenerCount("data") <= 1;
}

/**
 * Gives the memory of chunks back at once. Left to the garbage collector it takes 100 MB more with 200 uploads at a
 * time, and a quarter more time: what is allocated next is warm then.
 */
export function freeChunks(chunks: readonly Uint8Array[]): void {
  for (const { buffer, byteOffset, byteLength } of chunks) {
    if (byteLength < WORTHWHILE || byteOffset !== 0 || byteLength !== buffer.byteLength) continue;
    (buffer as ArrayBuffer).transfer(0);
  }
}

/** Most bytes that an upload holds: larger writes than half of that do not take less time. */
const MOST = 512 * 1024;
/** Fewest bytes: what a socket gives at once. */
const LEAST = 64 * 1024;

let bodies = 0;

/** A body begins to hold bytes. */
export function holdBytes(): void {
  bodies++;
}

/** A body that held bytes does not any more. */
export function releaseBytes(): void {
  bodies--;
}

/** How many bodies are being received. */
export function activeBodies(): number {
  return bodies;
}

/**
 * How many bytes a body may hold, gathered and being written together: its share of `budget`, so that memory hardly
 * grows with the number of uploads, and few uploads get large writes.
 */
export function windowOf(budget: number): number {
  return Math.min(MOST, Math.max(LEAST, Math.floor(budget / bodies)));
}

/** The error of a body that gives something else than bytes. */
export function notBytes(chunk: unknown): TypeError {
  const kind = typeof chunk === "object" && chunk !== null
    ? `an object of ${chunk.constructor?.name}`
    : `a ${typeof chunk}`;
  return new TypeError(`The chunks of a body must be Uint8Arrays, not ${kind}`);
}
