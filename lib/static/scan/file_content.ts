import { createHash } from "node:crypto";
import { closeSync, fstatSync, type Stats } from "node:fs";
import { joinBytes } from "../../streams/internal.ts";
import { openToRead, PIECE, piece, readFully, sha256 } from "./file_bytes.ts";
import type { Turns } from "./turns.ts";

/** A summary of a file's content. */
export interface FileContent {
  /** In bytes. */
  readonly size: number;
  /** In base64. */
  readonly sha256: string;
  /** When it was last changed, in ms since 1970. */
  readonly mtimeMs: number;
  /** The number that the file system has for it. */
  readonly ino: number;
  /** Its first bytes, 40 if there are so many, which tell what it is. Valid until the next file is read. */
  readonly head: Uint8Array;
  /** Its last bytes, 4 if there are so many. Valid until the next file is read. */
  readonly tail: Uint8Array;
}

/** Enough for the magic number and the dictionary's hash of a delta (RFC 9842, sections 4 and 5). */
const HEAD_LENGTH = 40;
/** That of the size in a gzip file (RFC 1952, section 2.3.1). */
const TAIL_LENGTH = 4;
/** How often a file is read that is being written meanwhile. */
const TRIES = 3;

/**
 * Reads a file in constant memory; the answer is there at once unless the file is large.
 *
 * @throws if it cannot be read, is not a regular file, or changes all the time.
 */
export function readContent(path: string, turns: Turns): FileContent | Promise<FileContent> {
  return readSmall(path) ?? readLarge(path, turns);
}

/** Undefined if it is too large, or grows. */
function readSmall(path: string): FileContent | undefined {
  const file = openToRead(path);
  try {
    const { size, mtimeMs, ino } = regular(fstatSync(file));
    // One byte more is asked for, so that a file that grew is seen.
    if (size >= PIECE || readFully(file, piece, size + 1) !== size) return undefined;
    const bytes = piece.subarray(0, size);
    return {
      size,
      sha256: sha256(bytes),
      mtimeMs,
      ino,
      head: bytes.subarray(0, HEAD_LENGTH),
      tail: bytes.subarray(-TAIL_LENGTH),
    };
  } finally {
    closeSync(file);
  }
}

async function readLarge(path: string, turns: Turns): Promise<FileContent> {
  for (let i = 0; i < TRIES; i++) {
    const content = await tryLarge(path, turns);
    if (content) return content;
  }
  throw new TypeError("it changes all the time: reload once it is at rest");
}

/** Undefined if the file changed meanwhile. */
async function tryLarge(path: string, turns: Turns): Promise<FileContent | undefined> {
  const file = openToRead(path);
  try {
    const before = regular(fstatSync(file));
    const hash = createHash("sha256");
    let head: Uint8Array = new Uint8Array(0);
    let tail = head;
    let size = 0;
    while (true) {
      const length = readFully(file, piece, PIECE);
      const bytes = piece.subarray(0, length);
      if (size === 0) head = bytes.slice(0, HEAD_LENGTH);
      tail = lastOf(tail, bytes);
      hash.update(bytes);
      size += length;
      if (length < PIECE) break;
      if (turns.isOver) await turns.next();
    }
    const after = fstatSync(file);
    if (size !== after.size || before.size !== size || before.mtimeMs !== after.mtimeMs) return undefined;
    return { size, sha256: hash.digest("base64"), mtimeMs: after.mtimeMs, ino: after.ino, head, tail };
  } finally {
    closeSync(file);
  }
}

/** The last bytes of what ended with `tail` and goes on with `bytes`, which may be fewer. */
function lastOf(tail: Uint8Array, bytes: Uint8Array): Uint8Array {
  const end = bytes.subarray(-TAIL_LENGTH);
  return joinBytes([tail, end], tail.length + end.length).subarray(-TAIL_LENGTH);
}

function regular(found: Stats): Stats {
  if (found.isFile()) return found;
  throw new TypeError("it is not a regular file any more");
}
