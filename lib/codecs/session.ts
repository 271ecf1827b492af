import { type Instance, instanceOf, LARGE, SMALL } from "./instance.ts";
import type { SessionParameters } from "./options.ts";

/** The reason for which a codec failed. */
export type CodecFault =
  /** A parameter is out of range. */
  | "parameter"
  /** The data cannot be decoded. */
  | "corrupt"
  /** The data ends too early. */
  | "truncated"
  /** The data goes on after its end. */
  | "trailing"
  /** The data asks for a larger window than the decoder may take. */
  | "window"
  /** The data was made with another dictionary. */
  | "dictionary"
  /** Memory ran out. */
  | "memory";

/** The numbers of the WASM modules; see `wasm/src/codec.rs`. */
const kinds: Readonly<Record<number, CodecFault>> = {
  [-1]: "parameter",
  [-2]: "corrupt",
  [-3]: "truncated",
  [-4]: "dictionary",
  [-5]: "memory",
};

/** The words of modules for what they count as corrupt, and what else it is. Nobody else has to know them. */
const words: readonly (readonly [CodecFault, string])[] = [
  ["trailing", "after the end of the stream"],
  ["window", "too much memory"],
];

/** Makes the error of a codec that failed, with its `fault`. `action` is as in `cannot decompress zstd`. */
export function codecError(action: string, kind: number, message: string): Error {
  const told = kinds[kind] ?? "corrupt";
  const fault = told === "corrupt" ? words.find(([, text]) => message.includes(text))?.[0] ?? told : told;
  const text = `${action}: ${message}`;
  const error = fault === "memory" || fault === "parameter" ? new RangeError(text) : new TypeError(text);
  return Object.defineProperty(error, "fault", { value: fault });
}

/** Returns the reason for which a codec failed; undefined if an error is of something else. */
export function faultOf(error: unknown): CodecFault | undefined {
  return (error as { fault?: CodecFault } | null | undefined)?.fault;
}

/** Asks a step for no more than to consume its input; numbers as in `wasm/src/codec.rs`. */
export const PROCESS = 0;
/** Asks a step to put out all that it was given, so that a reader has it at once. */
export const FLUSH = 1;
/** Asks a step to complete the stream. */
export const FINISH = 2;

const HAS_OUTPUT = 1;
const FAULT_MEMORY = -5;

/** The most output of one step, in bytes: a Rust Vec holds no more than isize::MAX. */
export const MAX_OUTPUT = 0x7fff_ffff;

/** The most bytes that a step takes and gives; the module holds memory of these sizes as long as the session is open. */
export interface PieceLimits {
  readonly input: number;
  readonly output: number;
}

/** A stream through a codec. Holds WASM memory until {@linkcode Session.close}. */
export class Session {
  #instance: Instance;
  #parameters: SessionParameters;
  #handle: number;
  readonly #load: number;

  /** @throws {RangeError} if the codec refuses a parameter or memory runs out. */
  constructor(module: WebAssembly.Module, parameters: SessionParameters) {
    this.#load = loadOf(parameters);
    this.#instance = instanceOf(module, this.#load);
    this.#parameters = parameters;
    this.#handle = this.#open();
    this.#instance.enter(this.#load);
    if (!parameters.whole) abandoned.register(this, this.#held(), this); // 2 to 4 µs, and work for the garbage collector
  }

  #open(): number {
    const { exports } = this.#instance;
    const { dictionary, index, level, windowLog, size, whole, checksum, lean } = this.#parameters;
    if (dictionary) this.#write(exports.dictionary(dictionary.length), dictionary);
    const handle = exports.open(index, level, windowLog, size, Number(whole), Number(checksum), Number(lean));
    if (handle === 0) throw new RangeError(`${this.#action}: ${this.#instance.fault()}`);
    return handle;
  }

  get #action(): string {
    return `cannot ${this.#parameters.direction} ${this.#parameters.format}`;
  }

  #write(address: number, bytes: Uint8Array): void {
    if (address === 0) throw this.#error(FAULT_MEMORY, `${bytes.length} bytes do not fit into memory`);
    this.#instance.view(address, bytes.length).set(bytes);
  }

  /** Hands `bytes` to the codec; the next {@linkcode step} consumes them. */
  write(bytes: Uint8Array): void {
    if (this.#handle === 0) throw new TypeError(`${this.#action}: the session is closed`);
    if (bytes.length > 0) this.#write(this.#instance.exports.input(this.#handle, bytes.length), bytes);
  }

  /**
   * Puts `bytes` through the codec, a piece of input after the other, and yields the pieces of output as they are made.
   * The operation is that of the last piece of input.
   *
   * @throws {TypeError} as {@linkcode step} does, and if the bytes' buffer has shrunk, or was transferred, between two pieces.
   */
  *run(bytes: Uint8Array, operation: number, limits: PieceLimits): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
    const { length: total } = bytes;
    for (let start = 0; start < total || start === 0; start += limits.input) {
      if (bytes.length < total) {
        throw new TypeError(`${this.#action}: a chunk's buffer was transferred or resized before all of it was read`);
      }
      const piece = bytes.subarray(start, start + limits.input);
      this.write(piece);
      let { length } = piece;
      for (let more = true; more; length = 0) {
        more = this.#advance(length, start + piece.length < total ? PROCESS : operation, limits.output);
        const output = this.#output();
        if (output.length > 0) yield output.slice() as Uint8Array<ArrayBuffer>;
      }
    }
  }

  /**
   * Consumes the `length` bytes of the last {@linkcode write} (0 to go on) and returns a copy of up to `limit` bytes
   * of output, and whether there is more.
   *
   * @throws {TypeError} if the data is corrupt, ends too early or needs another dictionary.
   * @throws {RangeError} if memory runs out.
   */
  step(length: number, operation: number, limit: number): { output: Uint8Array<ArrayBuffer>; more: boolean } {
    const more = this.#advance(length, operation, limit);
    return { output: this.#output().slice() as Uint8Array<ArrayBuffer>, more };
  }

  /** Like {@linkcode step}, with the output in the caller's `target` and as long as it at most. */
  stepInto(target: Uint8Array, length: number, operation: number): { length: number; more: boolean } {
    const more = this.#advance(length, operation, target.length);
    return { length: this.copyOutput(target), more };
  }

  /** Copies what the last step put out, also if it failed with a TypeError; returns how many bytes that are. */
  copyOutput(target: Uint8Array): number {
    const output = this.#output();
    target.set(output);
    return output.length;
  }

  /** Makes the step; true if there is more output. */
  #advance(length: number, operation: number, limit: number): boolean {
    if (this.#handle === 0) throw new TypeError(`${this.#action}: the session is closed`);
    let progress: number;
    try {
      progress = this.#instance.exports.step(this.#handle, length, operation, limit);
    } catch (cause) {
      this.#instance.retire(); // a trap leaves its memory in an unknown state
      throw new RangeError(`${this.#action}: the codec stopped, most likely out of memory`, { cause });
    }
    if (progress < 0) throw this.#error(progress, this.#instance.fault());
    return progress === HAS_OUTPUT;
  }

  #output(): Uint8Array {
    const { exports } = this.#instance;
    return this.#instance.view(exports.output(this.#handle), exports.output_length(this.#handle));
  }

  #error(kind: number, message: string): Error {
    return codecError(this.#action, kind, message);
  }

  /** Frees the codec's memory. Further calls do nothing. */
  close(): void {
    if (this.#handle === 0) return;
    if (!this.#parameters.whole) abandoned.unregister(this);
    release(this.#held());
    this.#handle = 0;
  }

  #held(): Held {
    return { instance: this.#instance, handle: this.#handle, load: this.#load };
  }
}

/** log2 of the largest window of a small session. */
const SMALL_WINDOW_LOG = 17;

function loadOf({ direction, family, windowLog }: SessionParameters): number {
  if (family === "deflate") return SMALL;
  return direction === "compress" && windowLog > 0 && windowLog <= SMALL_WINDOW_LOG ? SMALL : LARGE;
}

interface Held {
  readonly instance: Instance;
  readonly handle: number;
  readonly load: number;
}

function release({ instance, handle, load }: Held): void {
  instance.exports.close(handle);
  instance.leave(load);
}

/** Streams that are dropped half-way without cancel or abort. A session of a whole body is closed by the call that opens it. */
const abandoned = new FinalizationRegistry(release);
