import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

const HEAD = 8;

/** A file that always holds the input at hand, for those who come after a crash or a hang. A write takes some µs. */
export class StateFile {
  readonly #file: number;
  #count = 0;

  constructor(path: string) {
    this.#file = openSync(path, "w");
  }

  /** Records the next input before its run. */
  note(input: Uint8Array): void {
    const bytes = new Uint8Array(HEAD + input.length);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, ++this.#count);
    view.setUint32(4, input.length);
    bytes.set(input, HEAD);
    writeSync(this.#file, bytes, 0, bytes.length, 0);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Reads a state file: the number of inputs, and the last one. */
export function readState(path: string): { count: number; input: Uint8Array } {
  const bytes = readFileSync(path);
  if (bytes.length < HEAD) return { count: 0, input: new Uint8Array(0) };
  return { count: bytes.readUInt32BE(0), input: Uint8Array.from(bytes.subarray(HEAD, HEAD + bytes.readUInt32BE(4))) };
}
