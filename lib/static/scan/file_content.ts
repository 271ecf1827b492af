import * as crypto from "node:crypto";
import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, type Stats } from "node:fs";
import {
  codeOf,
  fileNumber,
  NOT_NOW,
  reasonOf as systemReasonOf,
  SHORTAGE,
  UNSHARED,
  whileRefused,
  whileRefusedNow,
  whileUnshared,
} from "../../files/internal.ts";
import { joinBytes } from "../../streams/internal.ts";
import { type FileStatus, fileStatus } from "../../runtime/mod.ts";
import type { TurnSlicer } from "../../timers/mod.ts";
import type { Representation } from "./representation.ts";

/** The meanings of error codes for a file that existed a moment ago, and is opened without following links. */
const ofFoundFile: Readonly<Record<string, string>> = {
  ENOENT: "it is gone, or its name is not UTF-8",
  ELOOP: "it is a loop of symbolic links, or has become a link",
};
const hint: Readonly<Record<string, string>> = { EMFILE: "raise the limit (ulimit -n)" };

/** Returns the reason of a file system error, in plain words. */
export function reasonOf(error: unknown, own: Readonly<Record<string, string>> = ofFoundFile): string {
  return systemReasonOf(error, own, hint);
}

/** The refusals after which opening a file is retried. */
export const WHILE_REFUSED: { readonly codes: ReadonlySet<string> } = { codes: NOT_NOW };

/** Whether `error` says nothing about the file: no descriptor is free, or another program denies sharing it. */
export function isPassingRefusal(error: unknown): boolean {
  return NOT_NOW.has(codeOf(error) ?? "");
}

/** Whether `error`, or its cause, is a lack of descriptors, which concerns all files. */
export function isShortage(error: unknown): boolean {
  return SHORTAGE.has(codeOf(error) ?? codeOf((error as Error).cause) ?? "");
}

export const CHUNK_SIZE: number = 256 * 1024;

/** A buffer for reads; its content is valid until the next `await`. */
export const piece: Uint8Array<ArrayBuffer> = new Uint8Array(CHUNK_SIZE);

/** Opens a file that may be replaced: a link in the last place is not followed, and a pipe does not block. Windows has neither flag. */
export function openToRead(path: string): number {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/** The wait for a file that another program denies sharing, until a deadline in ms: all answers wait meanwhile. */
const IF_UNSHARED = { codes: UNSHARED, deadline: 100 };

/** Reads until `bytes` has `length` bytes, or the file ends. Returns the number of bytes read. */
export function readFully(file: number, bytes: Uint8Array, length: number): number {
  let filled = 0;
  while (filled < length) {
    const read = whileRefusedNow(() => readSync(file, bytes, filled, length - filled, null), IF_UNSHARED);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/** Does what {@linkcode readFully} does, but waits longer where another program has locked a part of the file. */
export async function readFullyLater(file: number, bytes: Uint8Array, length: number): Promise<number> {
  let filled = 0;
  while (filled < length) {
    const read = await whileUnshared(() => readSync(file, bytes, filled, length - filled, null));
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

export function sha256(bytes: Uint8Array): string {
  if (crypto.hash) return crypto.hash("sha256", bytes, "base64");
  return crypto.createHash("sha256").update(bytes).digest("base64");
}

/**
 * Returns the bytes of a representation if the file still has the hash of the scan; valid until the next file is read.
 *
 * @throws {Error} a passing refusal, which is no sign of a change.
 */
export function readVerified({ file, size, sha256: expected }: Representation): Uint8Array<ArrayBuffer> | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = whileRefusedNow(() => openToRead(file), IF_UNSHARED);
    // One more byte shows whether the file has grown; on Deno, an `fstat` would take as long as the read.
    const space = size < CHUNK_SIZE ? piece : new Uint8Array(size + 1);
    if (readFully(descriptor, space, size + 1) !== size) return undefined;
    const bytes = space.subarray(0, size);
    return sha256(bytes) === expected ? bytes : undefined;
  } catch (error) {
    if (isPassingRefusal(error)) throw error;
    return undefined; // the file was removed, or can no longer be read
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export interface FileContent {
  readonly size: number;
  /** The SHA-256 in base64. */
  readonly sha256: string;
  /** Whether {@linkcode sha256} is a hash of size and time, instead of the bytes. */
  readonly isUnread?: boolean;
  /** The time of the last change, in ms since 1970. */
  readonly mtimeMs: number;
  /** The inode number. */
  readonly number: number;
  /** The first bytes, up to 40, by which its format is recognized. */
  readonly head: Uint8Array;
  /** The last bytes, up to 4. */
  readonly tail: Uint8Array;
}

/** The length of a delta's magic number and dictionary hash (RFC 9842, sections 4 and 5). */
const HEAD_LENGTH = 40;
/** The length of the size in a gzip file (RFC 1952, section 2.3.1). */
const TAIL_LENGTH = 4;
/** The maximum attempts to read a file that changes meanwhile. */
const TRIES = 3;

/** The end of the times that builds set for all files (0, 1980, npm's 1985), regardless of their content. */
export const FIRST_TIME: number = Date.UTC(1990);

/** Whether a file above `limit` bytes that is not small is identified by its status: only if its time is meaningful. */
export function isAbove(limit: number, { size, mtimeMs }: Pick<FileContent, "size" | "mtimeMs">): boolean {
  return size > limit && size >= CHUNK_SIZE && mtimeMs >= FIRST_TIME;
}

/** The coarse resolutions of times of files in ms, of FAT and of Deno. */
const RESOLUTIONS = [2000, 1000] as const;

/** Returns the latest time in ms that a time of a file may stand for. */
export function latestTime(ms: number): number {
  return ms + (RESOLUTIONS.find((resolution) => ms % resolution === 0) ?? 0);
}

/** Returns the size, times and number of a file as text: another one after each change of the file. */
export function stateText({ size, mtimeMs, ctimeMs, ino }: FileStatus): string {
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
}

/** The reading of a file in some state. */
interface Reading {
  readonly state: string;
  /** The content; undefined if the file changed meanwhile. */
  readonly content: Promise<FileContent | undefined>;
  isDone: boolean;
}

/** The contents of large files by path, shared by scans: each is read once while the state of its file is the same. */
export class LargeContents {
  readonly #readings = new Map<string, Reading>();
  /** The folders that were as at a run's look in the scan before, with the time of the look and their identities. */
  folders: Map<string, string> = new Map();
  /** The verdicts about large variants without a record, by path, with the contents of each and of its file. */
  readonly verdicts: Map<string, { readonly contents: string; readonly isProven: boolean }> = new Map();

  /** Whether the content of a file with a status is known. */
  has(path: string, status: FileStatus): boolean {
    const reading = this.#readings.get(path);
    return reading?.isDone === true && reading.state === stateText(status);
  }

  async read(path: string, turns: TurnSlicer): Promise<FileContent> {
    for (let i = 0; i < TRIES; i++) {
      const content = await this.#try(path, turns);
      if (content) return content;
    }
    throw new TypeError("it changes all the time: reload once it is at rest");
  }

  #try(path: string, turns: TurnSlicer): Reading["content"] {
    const status = fileStatus(path);
    const state = stateText(status);
    const known = this.#readings.get(path);
    if (known?.state === state) return known.content;
    const content = tryLarge(path, turns);
    // Another change of a file that has just changed may have the same times. FAT has no ctime on Windows: it is in 1601.
    if (status.ctimeMs < 0 || Date.now() - status.ctimeMs < RESOLUTIONS[0]) return content;
    const reading = { state, content, isDone: false };
    this.#readings.set(path, reading);
    const fail = () => this.#readings.get(path) === reading && this.forget(path);
    content.then((found) => found ? reading.isDone = true : fail(), fail);
    return content;
  }

  forget(path: string): void {
    this.#readings.delete(path);
  }

  /** Forgets the files that no longer exist. */
  prune(): void {
    for (const known of [this.#readings, this.verdicts]) {
      for (const path of known.keys()) if (!existsSync(path)) known.delete(path);
    }
  }
}

/**
 * Reads a file in constant memory, in one turn unless it is large; a file above `limit` is not read. Throws if it is
 * unreadable, irregular or always changing.
 */
export function readContent(
  path: string,
  turns: TurnSlicer,
  limit: number = Infinity,
  large: LargeContents = new LargeContents(),
): FileContent | Promise<FileContent> {
  const read = () => readSmall(path, limit) ?? large.read(path, turns);
  const readAgain = (error: unknown): Promise<FileContent> => {
    if (!isPassingRefusal(error)) throw error;
    return whileRefused(read, WHILE_REFUSED);
  };
  try {
    const content = read();
    return content instanceof Promise ? content.catch(readAgain) : content;
  } catch (error) {
    return readAgain(error);
  }
}

/** Returns the content of a small file; undefined if it is too large, or grows. */
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
    // One more byte shows whether the file has grown.
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

/** Returns the content of a large file; undefined if it changed meanwhile. */
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
      const end = bytes.subarray(-TAIL_LENGTH); // may be shorter
      tail = joinBytes([tail, end], tail.length + end.length).subarray(-TAIL_LENGTH);
      hash.update(bytes);
      size += length;
      if (length < CHUNK_SIZE) break;
      if (turns.isOver) await turns.next();
    }
    const after = fstatSync(file);
    // The modification time may be set back, unlike the change time, which Deno has in whole seconds.
    const isAsBefore = before.mtimeMs === after.mtimeMs && before.ctimeMs === after.ctimeMs;
    if (size !== after.size || before.size !== size || !isAsBefore) return undefined;
    return { size, sha256: hash.digest("base64"), mtimeMs: after.mtimeMs, number: numberOf(file, after), head, tail };
  } finally {
    closeSync(file);
  }
}

function numberOf(file: number, status: Stats): number {
  return fileNumber(status, () => fstatSync(file, { bigint: true }));
}

function regular(found: Stats): Stats {
  if (found.isFile()) return found;
  throw new TypeError("it is not a regular file any more");
}
