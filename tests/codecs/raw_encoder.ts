import { readFileSync } from "node:fs";
import { concatenated } from "../support/bytes.ts";

/** The exports of `wasm/src/lib.rs`. Addresses are unsigned 32-bit. */
interface Exports {
  memory: WebAssembly.Memory;
  dictionary(length: number): number;
  open(format: number, level: number, windowLog: number, size: number, whole: number, checksum: number): number;
  input(session: number, length: number): number;
  step(session: number, length: number, operation: number, limit: number): number;
  output(session: number): number;
  output_length(session: number): number;
  close(session: number): void;
}

/** A part of the input, and the operation after it. */
export interface Chunk {
  readonly length: number;
  /** 0 to process, 1 to flush, 2 to finish. */
  readonly operation: 0 | 1 | 2;
}

/** The settings of one input's encoding. */
export interface Run {
  readonly level: number;
  /** 0 for the codec's choice. */
  readonly windowLog: number;
  /** Whether the encoder gets the number of bytes that come. */
  readonly sizeKnown: boolean;
  readonly chunks: readonly Chunk[];
  readonly dictionary?: Uint8Array;
}

/** The number of runs of one instance: instances grow and never shrink, so a new one keeps long comparisons small. */
const RUNS_AN_INSTANCE = 300;

/** An encoder module driven by its own exports, so that two builds can be compared without lib/codecs. */
export class RawEncoder {
  readonly #module: WebAssembly.Module;
  #exports: Exports;
  #runs = 0;

  constructor(path: string) {
    this.#module = new WebAssembly.Module(readFileSync(path));
    this.#exports = this.#instantiate();
  }

  /** Returns the encoded bytes of `bytes`, in one piece for each chunk. @throws {Error} if a step fails. */
  encode(bytes: Uint8Array, run: Run): Uint8Array[] {
    if (++this.#runs % RUNS_AN_INSTANCE === 0) this.#exports = this.#instantiate();
    const exports = this.#exports;
    if (run.dictionary) {
      this.#view(exports.dictionary(run.dictionary.length), run.dictionary.length).set(run.dictionary);
    }
    const whole = Number(run.chunks.length === 1);
    const session = exports.open(0, run.level, run.windowLog, run.sizeKnown ? bytes.length : -1, whole, 0);
    if (session === 0) throw new Error(`open refused ${JSON.stringify({ ...run, dictionary: undefined })}`);
    const pieces: Uint8Array[] = [];
    let position = 0;
    for (const { length, operation } of run.chunks) {
      this.#view(exports.input(session, length), length).set(bytes.subarray(position, position + length));
      position += length;
      const outputs: Uint8Array<ArrayBuffer>[] = [];
      let progress = 1; // more output, or more blocks
      for (let fresh = length; progress === 1; fresh = 0) {
        progress = exports.step(session, fresh, operation, 0x7fffffff);
        outputs.push(new Uint8Array(this.#view(exports.output(session), exports.output_length(session))));
      }
      if (progress !== (operation === 2 ? 2 : 0)) throw new Error(`step returned ${progress} at byte ${position}`);
      pieces.push(concatenated(outputs));
    }
    exports.close(session);
    return pieces;
  }

  #instantiate(): Exports {
    return new WebAssembly.Instance(this.#module, {}).exports as unknown as Exports;
  }

  #view(address: number, length: number): Uint8Array {
    return new Uint8Array(this.#exports.memory.buffer, address >>> 0, length);
  }
}
