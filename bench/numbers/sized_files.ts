import { join } from "node:path";
import type { OpenOutput, OutputFile } from "../output_file.ts";
import { LONGEST_LINE, writeLine } from "./number_text.ts";

/** Bytes gathered for one write: neither 64 KiB nor 1 MiB is faster. */
const BUFFER_SIZE = 256 * 1024;

/**
 * The sink of our peers, as one would write it by hand: numbers are formatted into one buffer while the other is being
 * written, and a file ends before the line that it has no room for.
 */
export class SizedFiles {
  readonly #directory: string;
  readonly #maxFileSize: number;
  readonly #open: OpenOutput;
  #file: OutputFile | undefined;
  #files = 0;
  /** The bytes that still fit into the current file. */
  #left = 0;
  #buffer = new Uint8Array(BUFFER_SIZE);
  #spare = new Uint8Array(BUFFER_SIZE);
  #used = 0;
  /** The write of the spare buffer. */
  #writing: Promise<void> | undefined;

  constructor(directory: string, maxFileSize: number, open: OpenOutput) {
    this.#directory = directory;
    this.#maxFileSize = maxFileSize;
    this.#open = open;
  }

  /** Whether there is room in the buffer for one more line. Call {@linkcode flush} if there is none. */
  get hasRoom(): boolean {
    return this.#used <= BUFFER_SIZE - LONGEST_LINE;
  }

  /** Formats a number into the buffer. */
  add(number: number): void {
    this.#used = writeLine(this.#buffer, this.#used, number);
  }

  /** Begins to write the buffer; settles when there is room again. */
  async flush(): Promise<void> {
    await this.#writing;
    const lines = this.#buffer.subarray(0, this.#used);
    [this.#buffer, this.#spare] = [this.#spare, this.#buffer];
    this.#used = 0;
    this.#writing = this.#write(lines);
  }

  /** Writes the remaining bytes and closes the last file. */
  async close(): Promise<void> {
    await this.flush();
    await this.#writing;
    await this.#file?.close();
  }

  async #write(lines: Uint8Array): Promise<void> {
    let rest = lines;
    while (rest.length > this.#left) {
      const fitting = this.#left === 0 ? 0 : rest.lastIndexOf(10, this.#left - 1) + 1;
      if (fitting > 0) await this.#file?.write(rest.subarray(0, fitting));
      rest = rest.subarray(fitting);
      await this.#file?.close();
      const name = `numbers-${String(++this.#files).padStart(5, "0")}.txt`;
      this.#file = await this.#open(join(this.#directory, name));
      this.#left = this.#maxFileSize;
    }
    this.#left -= rest.length;
    if (rest.length > 0) await this.#file?.write(rest);
  }
}
