import { createHash } from "node:crypto";
import { type BigIntStats, close, closeSync, fstatSync, read, type Stats } from "node:fs";
import { fileNumber, whileUnshared } from "../../files/internal.ts";
import type { FileParts } from "../answer/answer.ts";
import type { Variant } from "../answer/variant.ts";
import { openToRead } from "../scan/file_content.ts";

/** The size of a read in bytes: larger reads are hardly faster, and each slow client needs a buffer of this size. */
export const CHUNK_SIZE: number = 128 * 1024;

/** Opens the file of `variant` and closes it. @throws {Error} if it cannot be opened now, or differs from the scan. */
export function requireReadable(variant: Variant): void {
  const descriptor = openToRead(variant.representation.file);
  try {
    const isAsScanned = matches(fstatSync(descriptor), variant, () => fstatSync(descriptor, { bigint: true }));
    if (!isAsScanned) throw new Error(`${variant.representation.file} has changed since the scan`);
  } finally {
    closeSync(descriptor);
  }
}

function matches(
  found: Stats,
  { mtimeMs, number, representation }: Variant,
  exact: () => BigIntStats,
): boolean {
  const isAlike = found.isFile() && found.size === representation.size && found.mtimeMs === mtimeMs;
  return isAlike && fileNumber(found, exact) === number;
}

/** A reader of a file's parts, one after the other. It closes the file at the end, on failure or on request, but never during a read. */
export class FileReader {
  readonly #variant: Variant;
  readonly #parts: FileParts["parts"];
  readonly #descriptor: number;
  readonly #opened: Stats;
  #index = 0;
  #offset = 0;
  #isReading = false;
  #isClosed = false;
  readonly #exact = (): BigIntStats => fstatSync(this.#descriptor, { bigint: true });

  /** @throws {Error} if the file cannot be opened, or differs from the scan. */
  constructor({ variant, parts }: FileParts) {
    this.#variant = variant;
    this.#parts = parts;
    this.#descriptor = openToRead(variant.representation.file);
    this.#opened = fstatSync(this.#descriptor);
    if (matches(this.#opened, variant, this.#exact)) return;
    this.close();
    throw this.#changed();
  }

  /** The size in bytes of the next piece; 0 at the end. */
  get ahead(): number {
    while (this.#index < this.#parts.length) {
      const part = this.#parts[this.#index];
      const left = (part instanceof Uint8Array ? part.length : part.end - part.start) - this.#offset;
      if (left > 0) return Math.min(left, CHUNK_SIZE);
      this.#index++;
      this.#offset = 0;
    }
    return 0;
  }

  /** Reads the next `ahead` bytes into `buffer`; returns the number read, 0 if the reader was closed meanwhile. */
  async read(buffer: Uint8Array): Promise<number> {
    const wanted = this.ahead;
    const part = this.#parts[this.#index];
    let length = wanted;
    try {
      if (part instanceof Uint8Array) buffer.set(part.subarray(this.#offset, this.#offset + wanted));
      else {
        const start = part.start + this.#offset;
        length = await whileUnshared(() => this.#isClosed ? 0 : this.#readFile(buffer, wanted, start));
      }
      this.#offset += length;
      // Only now are all bytes known to be of one version; otherwise the last piece is not sent.
      if (!this.#isClosed && this.ahead === 0 && !await this.#isUnchanged()) throw this.#changed();
    } catch (error) {
      this.close();
      throw error;
    }
    if (this.#isClosed) return 0;
    if (this.ahead === 0) this.close();
    return length;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#isReading) close(this.#descriptor, ignore);
  }

  /**
   * Whether the file is unchanged since it was opened. Its modification time may be set back: if only its change time
   * differs, bytes are compared.
   */
  async #isUnchanged(): Promise<boolean> {
    const found = fstatSync(this.#descriptor);
    const { size, sha256, isUnhashed } = this.#variant.representation;
    if (!matches(found, this.#variant, this.#exact)) return false;
    if (found.ctimeMs === this.#opened.ctimeMs || found.nlink !== this.#opened.nlink || isUnhashed) return true;
    const hash = createHash("sha256");
    const bytes = new Uint8Array(CHUNK_SIZE);
    for (let at = 0; at < size && !this.#isClosed;) {
      const length = await this.#readFile(bytes, Math.min(CHUNK_SIZE, size - at), at);
      hash.update(bytes.subarray(0, length));
      at += length;
    }
    return this.#isClosed || hash.digest("base64") === sha256;
  }

  #changed(): Error {
    return new Error(`${this.#variant.representation.file} was changed while it was sent: replace files by renaming`);
  }

  #readFile(buffer: Uint8Array, wanted: number, position: number): Promise<number> {
    this.#isReading = true;
    return new Promise((resolve, reject) => {
      read(this.#descriptor, buffer, 0, wanted, position, (error, bytesRead) => {
        this.#isReading = false;
        if (this.#isClosed) {
          close(this.#descriptor, ignore); // close() was called during the read
          resolve(0);
        } else if (error || bytesRead === 0) {
          reject(error ?? this.#changed());
        } else {
          resolve(bytesRead);
        }
      });
    });
  }
}

/** Ignores a failure to close: a file that was only read loses no data. */
function ignore(): void {}
