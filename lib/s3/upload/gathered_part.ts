import { Buffer } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { tmpdir } from "node:os";
import { crc32 } from "node:zlib";
import { type OpenFile, openUnnamed, writeFully } from "../../files/internal.ts";
import type { SentBody } from "../request/signed_request.ts";

export const BLOCK: number = 256 * 1024;

/** The memory shared by the parts of all uploads: a limited number of blocks of one size. */
export class Blocks {
  used = 0;
  readonly #most: number;
  #free: Uint8Array[] = [];

  constructor(bytes: number) {
    this.#most = Math.floor(bytes / BLOCK);
  }

  take(): Uint8Array | undefined {
    if (this.used >= this.#most) return undefined;
    this.used++;
    return this.#free.pop() ?? new Uint8Array(BLOCK);
  }

  /** Returns blocks that are no longer read or written. */
  give(blocks: readonly Uint8Array[]): void {
    this.used -= blocks.length;
    if (this.used === 0) this.#free = []; // no upload is in progress: the memory is released
    else this.#free.push(...blocks);
  }
}

/** The bytes that are read from a file at a time: as many as the HTTP client writes. */
const PAGE = 128 * 1024;

/** @throws {TypeError} if a chunk has not the length that it had when it was written: its buffer was transferred. */
export function requireLength(bytes: Uint8Array, length: number): void {
  if (bytes.length === length) return;
  throw new TypeError("the buffer of a chunk was transferred or resized before its bytes were taken");
}

export interface Storage {
  readonly blocks: Blocks;
  readonly temporary: string | undefined;
}

/** A part that is being gathered: in memory if possible, otherwise in a file without a name. */
export class GatheredPart implements SentBody {
  readonly number: number;
  length = 0;
  readonly #storage: Storage;
  /** The hash, updated while bytes are gathered, if it is signed. */
  readonly #hash: Hash | undefined;
  #sha256: string | undefined = undefined;
  #crc32 = 0;
  #blocks: Uint8Array[] = [];
  #file: OpenFile | undefined = undefined;

  constructor(number: number, storage: Storage, isSigned = true) {
    this.number = number;
    this.#storage = storage;
    this.#hash = isSigned ? createHash("sha256") : undefined;
  }

  async sha256(): Promise<string> {
    if (this.#sha256 !== undefined) return this.#sha256;
    const hash = this.#hash ?? createHash("sha256");
    if (this.#hash === undefined) { for await (const piece of this.open()) hash.update(piece); }
    return this.#sha256 = hash.copy().digest("hex"); // more may be appended
  }

  /** The CRC-32 of all bytes, in base64. */
  get crc32(): string {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(this.#crc32);
    return bytes.toString("base64");
  }

  /** Appends a copy of the bytes. One call at a time. @throws {TypeError} if they are detached meanwhile. */
  async append(bytes: Uint8Array): Promise<void> {
    const { length } = bytes;
    this.#crc32 = crc32(bytes, this.#crc32);
    this.#hash?.update(bytes);
    this.#sha256 = undefined;
    for (let start = 0; start < length;) {
      requireLength(bytes, length);
      if (this.#file !== undefined) {
        await writeFully(this.#file, [bytes.subarray(start)]);
        requireLength(bytes, length);
        this.length += length - start;
        return;
      }
      const used = this.length % BLOCK;
      const block = used > 0 ? this.#blocks.at(-1) : this.#storage.blocks.take();
      if (block === undefined) {
        await this.#spill();
        continue;
      }
      if (used === 0) this.#blocks.push(block);
      const piece = bytes.subarray(start, start + BLOCK - used);
      block.set(piece, used);
      start += piece.length;
      this.length += piece.length;
    }
  }

  async *open(onPiece?: () => void): AsyncGenerator<Uint8Array> {
    for await (const piece of this.#file === undefined ? this.#pieces() : this.#pages(this.#file)) {
      onPiece?.();
      yield piece;
    }
  }

  async *#pages(file: OpenFile): AsyncGenerator<Uint8Array> {
    const page = new Uint8Array(PAGE);
    for (let position = 0; position < this.length;) {
      const read = await file.read(page.subarray(0, this.length - position), position);
      if (read === 0) throw new Error("a temporary file is shorter than what was written to it");
      position += read;
      yield page.subarray(0, read);
    }
  }

  async whole(): Promise<Uint8Array> {
    const bytes = new Uint8Array(this.length);
    let end = 0;
    for await (const piece of this.open()) {
      bytes.set(piece, end);
      end += piece.length;
    }
    return bytes;
  }

  /** Releases the part's memory and file, which must no longer be read. */
  async discard(): Promise<void> {
    this.#storage.blocks.give(this.#blocks);
    this.#blocks = [];
    await this.#file?.close();
  }

  async #spill(): Promise<void> {
    const file = await openUnnamed(this.#storage.temporary ?? tmpdir());
    this.#file = file;
    await writeFully(file, this.#pieces());
    this.#storage.blocks.give(this.#blocks);
    this.#blocks = [];
  }

  #pieces(): Uint8Array[] {
    return this.#blocks.map((block, index) => block.subarray(0, Math.min(BLOCK, this.length - index * BLOCK)));
  }
}
