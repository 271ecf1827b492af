import * as crypto from "node:crypto";
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import {
  fileNumber,
  reasonOf as systemReasonOf,
  UNSHARED,
  whileRefusedNow,
  whileUnshared,
} from "../../files/internal.ts";
import { joinBytes } from "../../streams/internal.ts";
import type { TurnSlicer } from "../../timers/mod.ts";
import type { Representation } from "./representation.ts";

/** The meanings of error codes for a file that was there a moment ago, and is opened without following links. */
const ofFoundFile: Readonly<Record<string, string>> = {
  ENOENT: "it is gone, or its name is not UTF-8",
  ELOOP: "it is a loop of symbolic links, or has become a link",
};
const hint: Readonly<Record<string, string>> = { EMFILE: "raise the limit (ulimit -n)" };

/** Returns the reason for which the file system refused, in plain words. */
export function reasonOf(error: unknown): string {
  return systemReasonOf(error, ofFoundFile, hint);
}

export const CHUNK_SIZE: number = 256 * 1024;

/** Memory to read into; what it holds is valid until something is awaited. */
export const piece: Uint8Array<ArrayBuffer> = new Uint8Array(CHUNK_SIZE);

/** Opens a file that may be replaced: no link in the last place is followed, no pipe blocks. Windows has neither flag. */
export function openToRead(path: string): number {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/** Reads on until there are `length` bytes at the beginning of `bytes`, or no more. Returns how many there are. */
export function readFully(file: number, bytes: Uint8Array, length: number): number {
  let filled = 0;
  while (filled < length) {
    const read = readSync(file, bytes, filled, length - filled, null);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

export function sha256(bytes: Uint8Array): string {
  if (crypto.hash) return crypto.hash("sha256", bytes, "base64");
  return crypto.createHash("sha256").update(bytes).digest("base64");
}

/** The ms for which an answer waits for a file that another program shares with none: all others wait, too. */
const UNSHARED_TIMEOUT = 100;

/** The bytes of a representation if the file still has the hash of the scan; valid until the next file is read. */
export function readVerified({ file, size, sha256: expected }: Representation): Uint8Array<ArrayBuffer> | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = whileRefusedNow(() => openToRead(file), { codes: UNSHARED, deadline: UNSHARED_TIMEOUT });
    // A read of one byte more shows that a file has grown; an `fstat` before it takes Deno as long again.
    const space = size < CHUNK_SIZE ? piece : new Uint8Array(size + 1);
    if (readFully(descriptor, space, size + 1) !== size) return undefined;
    const bytes = space.subarray(0, size);
    return sha256(bytes) === expected ? bytes : undefined;
  } catch {
    return undefined; // it is gone, or cannot be read any more
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export interface FileContent {
  /** In bytes. */
  readonly size: number;
  /** In base64. */
  readonly sha256: string;
  /** Whether {@linkcode sha256} is of its size and time in place of its bytes. */
  readonly isUnread?: boolean;
  /** The time of its last change, in ms since 1970. */
  readonly mtimeMs: number;
  /** A number that tells it from other files. */
  readonly number: number;
  /** Its first bytes, 40 if there are so many, which tell what it is. */
  readonly head: Uint8Array;
  /** Its last bytes, 4 if there are so many. */
  readonly tail: Uint8Array;
}

/** Enough for the magic number and the dictionary's hash of a delta (RFC 9842, sections 4 and 5). */
const HEAD_LENGTH = 40;
/** The length of the size in a gzip file (RFC 1952, section 2.3.1). */
const TAIL_LENGTH = 4;
/** The attempts to read a file that changes meanwhile. */
const TRIES = 3;

/** The end of times that a build sets for all of its files (0, 1980, npm's 1985): content that changes keeps them. */
export const FIRST_TIME: number = Date.UTC(1990);

/** Whether a file of more than `limit` bytes, and not small, is known by its status: unless its time proves nothing. */
export function isAbove(limit: number, { size, mtimeMs }: Pick<FileContent, "size" | "mtimeMs">): boolean {
  return size > limit && size >= CHUNK_SIZE && mtimeMs >= FIRST_TIME;
}

/**
 * Reads a file in constant memory, at once unless it is large; one above `limit` is not read. Throws if it is unreadable,
 * irregular or always changing.
 */
export function readContent(
  path: string,
  turns: TurnSlicer,
  limit: number = Infinity,
): FileContent | Promise<FileContent> {
  const read = () => readSmall(path, limit) ?? readLarge(path, turns);
  const readAgain = (error: unknown): Promise<FileContent> => {
    if (!UNSHARED.has((error as { code?: string }).code!)) throw error;
    return whileUnshared(read);
  };
  try {
    const content = read();
    return content instanceof Promise ? content.catch(readAgain) : content;
  } catch (error) {
    return readAgain(error);
  }
}

/** Undefined if it is too large, or grows. */
function readSmall(path: string, limit: number): FileContent | undefined {
  const file = openToRead(path);
  try {
    const status = regular(fstatSync(file));
    const { size, mtimeMs } = status;
    const number = numberOf(file, status);
    if (isAbove(limit, { size, mtimeMs })) {
      const none = new Uint8Array(0); // Deno has whole ms
      const text = Buffer.from(`${size} ${Math.floor(mtimeMs)}`);
      return { size, sha256: sha256(text), isUnread: true, mtimeMs, number, head: none, tail: none };
    }
    // A read of one byte more shows that a file has grown.
    if (size >= CHUNK_SIZE || readFully(file, piece, size + 1) !== size) return undefined;
    const bytes = piece.subarray(0, size);
    return {
      size,
      sha256: sha256(bytes),
      mtimeMs,
      number,
      head: bytes.slice(0, HEAD_LENGTH),
      tail: bytes.slice(-TAIL_LENGTH),
    };
  } finally {
    closeSync(file);
  }
}

async function readLarge(path: string, turns: TurnSlicer): Promise<FileContent> {
  for (let i = 0; i < TRIES; i++) {
    const content = await tryLarge(path, turns);
    if (content) return content;
  }
  throw new TypeError("it changes all the time: reload once it is at rest");
}

/** Undefined if the file changed meanwhile. */
async function tryLarge(path: string, turns: TurnSlicer): Promise<FileContent | undefined> {
  const file = openToRead(path);
  try {
    const before = regular(fstatSync(file));
    const hash = createHash("sha256");
    let head: Uint8Array = new Uint8Array(0);
    let tail = head;
    let size = 0;
    while (true) {
      const length = readFully(file, piece, CHUNK_SIZE);
      const bytes = piece.subarray(0, length);
      if (size === 0) head = bytes.slice(0, HEAD_LENGTH);
      tail = lastOf(tail, bytes);
      hash.update(bytes);
      size += length;
      if (length < CHUNK_SIZE) break;
      if (turns.isOver) await turns.next();
    }
    const after = fstatSync(file);
    // The time of the content may be set back; that of the status cannot, which Deno has in whole seconds.
    const isAsBefore = before.mtimeMs === after.mtimeMs && before.ctimeMs === after.ctimeMs;
    if (size !== after.size || before.size !== size || !isAsBefore) return undefined;
    return { size, sha256: hash.digest("base64"), mtimeMs: after.mtimeMs, number: numberOf(file, after), head, tail };
  } finally {
    closeSync(file);
  }
}

/** The last bytes of what ended with `tail` and goes on with `bytes`, which may be fewer. */
function lastOf(tail: Uint8Array, bytes: Uint8Array): Uint8Array {
  const end = bytes.subarray(-TAIL_LENGTH);
  return joinBytes([tail, end], tail.length + end.length).subarray(-TAIL_LENGTH);
}

function numberOf(file: number, status: Stats): number {
  return fileNumber(status, () => fstatSync(file, { bigint: true }));
}

function regular(found: Stats): Stats {
  if (found.isFile()) return found;
  throw new TypeError("it is not a regular file any more");
}
