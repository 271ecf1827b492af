import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { type Member, member } from "../../streams/internal.ts";

/** The number of bytes that are compared at the start of a file, and before a position in it: a difference means a rewritten file. */
export const PROOF_SIZE = 64;
const LINE_FEED = 10;
const NOTHING: Uint8Array = new Uint8Array(0);

/** A position in a file, and the bytes that prove it. */
export interface Mark {
  readonly offset: number;
  /** The first bytes of the file. */
  readonly head: Uint8Array;
  /** The bytes before the position. */
  readonly tail: Uint8Array;
}

/** The position after the last whole line that was read from a file. */
export class LinePlace {
  mark: Mark = { offset: 0, head: NOTHING, tail: NOTHING };
  /** The position after all read bytes, and the bytes before it. */
  end = 0;
  #recent: Uint8Array = NOTHING;

  begin(offset: number, head: Uint8Array, before: Uint8Array): void {
    this.end = offset;
    this.#recent = last(before);
    this.mark = { offset, head, tail: this.#recent };
  }

  /** Starts at the position after all read bytes, which need not be the end of a line. */
  beginHere(): void {
    this.begin(this.end, this.mark.head, this.#recent);
  }

  add(bytes: Uint8Array): void {
    let { offset, head, tail } = this.mark;
    const known = head.length - this.end; // the first bytes may be known before they are read
    if (head.length < PROOF_SIZE && known < bytes.length) {
      head = Buffer.concat([head, bytes.subarray(known, known + PROOF_SIZE - head.length)]);
    }
    const ended = bytes.lastIndexOf(LINE_FEED) + 1;
    if (ended > 0) {
      offset = this.end + ended;
      tail = last(this.#recent, bytes.subarray(0, ended));
    }
    this.mark = { offset, head, tail };
    this.#recent = last(this.#recent, bytes);
    this.end += bytes.length;
  }

  /** Undoes the reading from `end` on; `before` are the bytes before `end`. */
  cut(end: number, before: Uint8Array): void {
    const { offset, head, tail } = this.mark;
    this.#recent = last(before);
    this.end = end;
    const isBehind = offset > end;
    this.mark = { offset: isBehind ? end : offset, head: head.subarray(0, end), tail: isBehind ? this.#recent : tail };
  }
}

/** Returns a copy of the last bytes of both. */
function last(before: Uint8Array, bytes: Uint8Array = NOTHING): Uint8Array {
  if (bytes.length >= PROOF_SIZE) return bytes.slice(-PROOF_SIZE);
  return Buffer.concat([before.subarray(Math.max(0, before.length + bytes.length - PROOF_SIZE)), bytes]);
}

/** Returns the number of first bytes that prove a file: below 64 only whole lines, since others may be taken back. */
export function provenHead({ offset, head }: Mark): number {
  if (offset > 0) return Math.min(offset, head.length);
  return head.length === PROOF_SIZE ? PROOF_SIZE : head.lastIndexOf(LINE_FEED) + 1;
}

export function proofOf({ head, tail }: Mark, length: number): string {
  return createHash("sha256").update(head.subarray(0, length)).update(tail).digest("base64url");
}

/** Whether a file's bytes prove that it is the position's; `mark` is at the position's offset, if the file is as long. */
export function isProven(mark: Mark, { offset, head, proof }: FollowPosition): boolean {
  return head > 0 && mark.offset === offset && mark.head.length >= head && proofOf(mark, head) === proof;
}

/** The properties of a position that identify its file on disks that keep them. */
export type FollowedIdentity = Pick<FollowPosition, "file" | "born" | "time">;

export function idOf({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string {
  return `${dev} ${ino}`;
}

export function identityOf(status: BigIntStats): FollowedIdentity {
  const { birthtimeNs: born, mtimeNs: time } = status; // some runtimes give ms only
  return { file: idOf(status), born: Number(born / 1_000_000n), time: Number(time / 1_000_000n) };
}

/**
 * A position in a file that {@linkcode followFile} reads: after the last whole line that its reader got. It is a plain
 * object, which can be stored as JSON.
 *
 * @example Continuing after a restart
 * ```ts
 * import { followFile, type FollowPosition } from "@millrace/streams/files";
 * import { readFile, writeFile } from "node:fs/promises";
 *
 * await writeFile("app.log", "started\n");
 * const kept = await readFile("app.position", "utf8").catch(() => undefined);
 * const start: FollowPosition | "beginning" = kept === undefined ? "beginning" : JSON.parse(kept);
 * const bytes = await followFile("app.log", { start });
 * for await (const chunk of bytes) {
 *   console.log(new TextDecoder().decode(chunk)); // started
 *   await writeFile("app.position", JSON.stringify(bytes.position)); // once the chunk is done with
 *   break;
 * }
 * ```
 */
export interface FollowPosition {
  /** The device and inode of the file; `""` if there was none yet. */
  readonly file: string;
  /** The time of the file's birth in ms since 1970; 0 if its file system has none. */
  readonly born: number;
  /** The number of the file in a series. */
  readonly number?: number | undefined;
  /** The number of uncompressed bytes before the position. */
  readonly offset: number;
  /** The number of the file's first bytes in the proof, at most 64; 0 if it had no whole line. */
  readonly head: number;
  /** A digest of the file's first bytes in the proof, and of the 64 before the position. */
  readonly proof: string;
  /** The file's modification time before the read, or the present time if there was no file, in ms since 1970. */
  readonly time: number;
}

export function positionMember(): Member<FollowPosition> {
  return member("a position of followFile()", (value) => {
    const { file, born, number = 1, offset, head, proof, time } = Object(value) as Partial<FollowPosition>;
    return typeof file === "string" && typeof proof === "string" && [born, time].every(Number.isFinite) &&
      [number, offset, head].every((each) => Number.isSafeInteger(each) && each! >= 0);
  });
}
