import { Buffer } from "node:buffer";
import type { BigIntStats } from "node:fs";
import process from "node:process";
import { DecompressionStream, type Format } from "../../codecs/mod.ts";
import { codeOf } from "../failure.ts";
import { readableOf } from "../open_file_readable.ts";
import { isSureNumber, OpenFile } from "../open_file.ts";
import type { FollowedFile } from "./follow_source.ts";
import { type FollowedIdentity, identityOf, idOf, LinePlace, PROOF_SIZE } from "./line_place.ts";

/** Awaits a call on a file; resolves to undefined if the file does not exist. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

const READ_SIZE = 256 * 1024;
/** The number of bytes for which an idle file's memory has room, as they may be written just before a read. */
const LINE_SIZE = 4096;
/** The number of bytes before the position that are compared in a series, whose writer truncates the rest of a failed write. */
const SERIES_PROOF_SIZE = 16_384;
/** The number of first bytes that are compared in a series: a shorter file was truncated if it has the same ones, otherwise refilled. */
const SERIES_HEAD_SIZE = 65_536;
const LINE_FEED = 10;
const NOTHING: Uint8Array = new Uint8Array(0);

export class GrowingFile implements FollowedFile {
  identity: FollowedIdentity;
  readonly #file: OpenFile;
  /** Whether a file that has shrunk was restarted; otherwise the lost bytes were those of a failed write. */
  readonly #beginsAnew: boolean;
  /** The last bytes before the position. */
  #proof: Uint8Array = NOTHING;
  readonly place: LinePlace = new LinePlace();
  number: number | undefined = undefined;
  /** The first bytes, which are compared to find out whether it was rewritten. */
  #head: Uint8Array = NOTHING;
  /** In a series, the 64 bytes before each further power of two. */
  #samples: { readonly end: number; readonly bytes: Uint8Array }[] = [];
  /** The file's modification time when they were last compared, in ms since 1970. */
  #comparedAt = 0;
  isBroken = false;
  #memory: Uint8Array<ArrayBuffer> | undefined = undefined;

  private constructor(file: OpenFile, beginsAnew: boolean) {
    this.identity = identityOf(file.exactStatus());
    this.#file = file;
    this.#beginsAnew = beginsAnew;
  }

  /** Opens a file for reading from `start` on; from the beginning if it is shorter. */
  static async open(path: string, start: number | "end", beginsAnew: boolean): Promise<GrowingFile> {
    const file = await OpenFile.openRegular(path);
    try {
      const size = file.size();
      const growing = new GrowingFile(file, beginsAnew);
      await growing.#begin(start === "end" ? size : start <= size ? start : 0);
      return growing;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get status(): BigIntStats {
    return this.#file.exactStatus();
  }

  get #sizes(): { readonly head: number; readonly proof: number } {
    return this.#beginsAnew
      ? { head: PROOF_SIZE, proof: PROOF_SIZE }
      : { head: SERIES_HEAD_SIZE, proof: SERIES_PROOF_SIZE };
  }

  async #begin(position: number): Promise<void> {
    const sizes = this.#sizes;
    const proof = new Uint8Array(Math.min(position, sizes.proof));
    const length = await this.#file.read(proof, position - proof.length);
    // In a series, unread bytes may be those of a failed write, which the writer truncates.
    const head = new Uint8Array(this.#beginsAnew ? PROOF_SIZE : Math.min(position, sizes.head));
    const first = await this.#file.read(head, 0);
    // The file may be truncated meanwhile.
    if (first < Math.min(position, sizes.head) || length < proof.length) return;
    this.#proof = proof;
    this.#head = head.subarray(0, Math.min(first, position));
    for (let end = 2 * sizes.head; !this.#beginsAnew && end <= position; end *= 2) {
      const bytes = new Uint8Array(PROOF_SIZE);
      if (await this.#file.read(bytes, end - PROOF_SIZE) === PROOF_SIZE) this.#samples.push({ end, bytes });
    }
    this.place.begin(position, head.slice(0, Math.min(first, PROOF_SIZE)), proof);
  }

  async read(wanted: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const known = this.#proof.length;
    const { birthtimeMs, mtimeMs, size } = this.#file.status();
    this.identity = { ...this.identity, time: Math.floor(mtimeMs) };
    // overlayfs changes the birth as it copies the file from an image's layer.
    if (Math.abs(birthtimeMs - this.identity.born) > 1) this.identity = identityOf(this.#file.exactStatus());
    const room = Math.min(READ_SIZE, known + Math.min(wanted, Math.max(LINE_SIZE, size - this.place.end)));
    // `new Uint8Array(room)` would clear memory that was used before.
    if (!(this.#memory?.length! >= room)) this.#memory = new Uint8Array(Buffer.allocUnsafeSlow(room).buffer);
    const bytes = this.#memory!;
    const length = await this.#file.read(bytes.subarray(0, room), this.place.end - known);
    const isSame = length >= known && Buffer.compare(this.#proof, bytes.subarray(0, known)) === 0;
    const isCompared = isSame && length === known && mtimeMs === this.#comparedAt;
    this.#comparedAt = mtimeMs;
    // The file may be truncated before the read, and continued while its first bytes are compared.
    const most = Math.min(size, isSame ? size : this.#file.size(), this.place.end - known);
    const isAnew = !isCompared && !await this.#isProven(most, isSame);
    if (isSame && !isAnew) return length === known ? undefined : this.#taken(bytes, known, length);
    this.#lose(isAnew || this.#beginsAnew ? 0 : length === 0 ? most : this.#sameLines(bytes.subarray(0, length)));
    return size > 0 ? await this.read(wanted) : undefined;
  }

  /** Keeps the first of the bytes that begin at an offset, and the samples of them, except those of `known` earlier bytes. */
  #sample(bytes: Uint8Array, offset: number, known: number): void {
    const { head } = this.#sizes;
    const behind = this.#head.length - offset;
    if (behind >= 0 && this.#head.length < head) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(behind, head - offset)]);
    }
    for (let end = 2 * head; !this.#beginsAnew && end <= offset + bytes.length; end *= 2) {
      const start = end - PROOF_SIZE - offset;
      if (end > offset + known && start >= 0) this.#samples.push({ end, bytes: bytes.slice(start, end - offset) });
    }
  }

  /** Whether the last sample within `most`, and the first bytes, are still in the file; 64 suffice where those before the position are. */
  async #isProven(most: number, isSame: boolean): Promise<boolean> {
    const head = this.#head.subarray(0, isSame ? Math.min(most, PROOF_SIZE) : most);
    const { end, bytes } = this.#samples.findLast((each) => each.end <= most) ?? { end: PROOF_SIZE, bytes: NOTHING };
    return await this.#has(head, 0) && await this.#has(bytes, end - PROOF_SIZE);
  }

  async #has(bytes: Uint8Array, position: number): Promise<boolean> {
    const present = new Uint8Array(bytes.length);
    if (bytes.length > 0) await this.#file.read(present, position);
    return Buffer.compare(present, bytes) === 0;
  }

  hasBytes(): boolean {
    return this.#file.size() > 0;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  #lose(position: number): void {
    const lost = Math.max(0, this.place.end - position);
    this.isBroken ||= lost > 0;
    this.#proof = this.#proof.subarray(0, Math.max(0, this.#proof.length - lost));
    this.place.cut(this.place.end - lost, this.#proof);
    this.#head = this.#head.subarray(0, this.place.end);
    this.#samples = this.#samples.filter(({ end }) => end <= this.place.end);
  }

  /** Returns the end of the unchanged whole lines in a series; `bytes` now take the place of the proof. */
  #sameLines(bytes: Uint8Array): number {
    const other = this.#proof.findIndex((byte, i) => byte !== bytes[i]);
    const same = this.#proof.lastIndexOf(LINE_FEED, other - 1) + 1;
    const start = this.place.end - this.#proof.length;
    if (other > 0 && same > 0) return start + same;
    return this.place.mark.offset <= start ? this.place.mark.offset : 0;
  }

  /** Returns the bytes read after the proof, copied if they are few. */
  #taken(bytes: Uint8Array<ArrayBuffer>, known: number, length: number): Uint8Array<ArrayBuffer> {
    this.#sample(bytes.subarray(0, length), this.place.end - known, known);
    this.place.add(bytes.subarray(known, length));
    this.#proof = bytes.slice(Math.max(0, length - this.#sizes.proof), length);
    if (length < READ_SIZE / 4) return bytes.slice(known, length);
    this.#memory = undefined; // an idle file's is as small as the proof
    return bytes.subarray(known, length);
  }
}

/** Whether a path's status is that of an open file: compressed ones are closed. @param now Returns the path's present status. */
export function isOf(status: BigIntStats, file: FollowedFile, now: () => BigIntStats | undefined): boolean {
  const id = file.identity.file;
  const isSame = "status" in file &&
    (process.platform === "win32" ? id.endsWith(` ${status.ino}`) : id === idOf(status));
  if (!isSame || isSureNumber(status.ino)) return isSame;
  const own = file.status;
  const later = now();
  // A file only grows while its status is taken three times.
  const isBetween = (part: "mtimeNs" | "size"): boolean => status[part] <= own![part] && own![part] <= later![part];
  return own !== undefined && later !== undefined && isBetween("mtimeNs") && isBetween("size");
}

/** The window in bytes up to which the `zstd` command compresses and reads logs. */
const MAX_WINDOW = 2 ** 27;

/** A complete file that was compressed before it was read. */
class PackedFile implements FollowedFile {
  readonly identity: FollowedIdentity;
  readonly place: LinePlace = new LinePlace();
  number: number | undefined = undefined;
  isBroken = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  #rest: Uint8Array<ArrayBuffer> | undefined = undefined;

  private constructor(identity: FollowedIdentity, reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>) {
    this.identity = identity;
    this.#reader = reader;
  }

  /** Opens a file for reading from `start` on; from its end if it is shorter. */
  static async open(path: string, format: Format, start: number): Promise<PackedFile> {
    const packed = await OpenFile.openRegular(path);
    const identity = identityOf(packed.exactStatus());
    const stream = readableOf(packed, path).pipeThrough(
      new DecompressionStream(format, format === "zstd" ? { maxWindow: MAX_WINDOW } : {}),
    );
    const file = new PackedFile(identity, stream.getReader());
    while (file.place.end < start && await file.read(start - file.place.end) !== undefined) { /* it was read before */ }
    file.place.beginHere();
    if (start === 0) await file.#peek().catch(() => {}); // the first read rejects with the same error
    return file;
  }

  /** Reads the file's first bytes ahead, as the proof of a position at its start. */
  async #peek(): Promise<void> {
    let head: Uint8Array<ArrayBuffer> = new Uint8Array(0);
    while (head.length < PROOF_SIZE) {
      const { value } = await this.#reader.read();
      if (value === undefined) break;
      head = this.#rest = Uint8Array.from(Buffer.concat([head, value]));
    }
    this.place.begin(0, head.slice(0, PROOF_SIZE), NOTHING);
  }

  async read(most: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const bytes = this.#rest ?? (await this.#reader.read()).value;
    if (bytes === undefined) return undefined;
    this.#rest = bytes.length > most ? bytes.slice(most) : undefined;
    const taken = bytes.length > most ? bytes.slice(0, most) : bytes;
    this.place.add(taken);
    return taken;
  }

  hasBytes(): boolean {
    return true;
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {}); // a damaged file has failed before
  }
}

/** The path of a file, and its format if it is compressed: a plain file may have the same extension. */
export interface FilePath {
  readonly path: string;
  readonly format: Format | undefined;
}

/** Opens a file for reading from `start` on; resolves to undefined if no file has the name. */
export function openAny(
  { path, format }: FilePath,
  start: number,
  beginsAnew: boolean,
): Promise<FollowedFile | undefined> {
  return unlessMissing<FollowedFile>(
    format === undefined ? GrowingFile.open(path, start, beginsAnew) : PackedFile.open(path, format, start),
  );
}
