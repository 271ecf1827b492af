import { joinBytes } from "../streams/internal.ts";
import type { Format } from "./format.ts";
import { type Instance, instanceOf, type WasmModule } from "./module.ts";
import type { SessionParameters } from "./options.ts";

/** The faults of the WASM modules, numbered from -1 down in `wasm/src/codec.rs`. */
const faults = ["parameter", "corrupt", "truncated", "dictionary", "memory", "trailing", "window"] as const;

/** The reason of a codec's failure; `window`: the data requires a larger window than the limit. */
export type CodecFault = typeof faults[number];

/** The faults that exceed a limit. */
const limits: readonly CodecFault[] = ["parameter", "memory", "window"];

/** Returns the reason of a codec's failure; undefined for other errors. */
export function faultOf(error: unknown): CodecFault | undefined {
  return (error as { fault?: CodecFault } | null | undefined)?.fault;
}

/** The operation of a step that consumes its input; numbers as in `wasm/src/codec.rs`. */
export const PROCESS = 0;
/** The operation of a step that flushes all input, so that a reader has it at once. */
export const FLUSH = 1;
/** The operation of a step that completes the stream. */
export const FINISH = 2;

const HAS_OUTPUT = 1;

/** The maximum output of one step, in bytes: a Rust Vec holds no more than isize::MAX. */
export const MAX_OUTPUT = 0x7fff_ffff;

/** The maximum bytes of a step's input and output, for which the module holds memory as long as the session is open. */
export interface PieceLimits {
  readonly input: number;
  readonly output: number;
}

/** The part of an instance that a session holds until it is closed. */
interface Held {
  readonly instance: Instance;
  readonly handle: number;
  readonly need: number;
}

/** A pass through a codec. Holds WASM memory until {@linkcode Session.close}. */
export class Session {
  readonly held: Held;
  #instance: Instance;
  #parameters: SessionParameters;
  #handle: number;
  /** The failure that follows the output of the last step, which the next step throws. */
  #failure: Error | undefined = undefined;

  /** @throws {RangeError} if the codec refuses a parameter or memory runs out. */
  constructor(module: WasmModule, parameters: SessionParameters) {
    this.#parameters = parameters;
    const [instance, need] = instanceOf(module, parameters);
    this.#instance = instance;
    const handle = this.#handle = this.#open();
    this.held = { instance, handle, need };
    instance.enter(need);
  }

  #open(): number {
    const { exports } = this.#instance;
    const { dictionary, index, level, window, size, whole, checksum, lean } = this.#parameters;
    if (dictionary) this.#write(exports.dictionary(dictionary.length), dictionary);
    let handle: number;
    try {
      handle = exports.open(index, level, window, size, Number(whole), Number(checksum), Number(lean));
    } catch (cause) {
      throw this.#stopped(cause);
    }
    if (handle === 0) throw this.#reported();
    return handle;
  }

  get #action(): string {
    return `cannot ${this.#parameters.direction} ${this.#parameters.format}`;
  }

  #write(address: number, bytes: Uint8Array): void {
    if (address === 0) throw this.#error("memory", `${bytes.length} bytes do not fit into memory`);
    this.#instance.view(address, bytes.length).set(bytes);
  }

  /** Hands `bytes` to the codec; the next step consumes them. */
  write(bytes: Uint8Array): void {
    if (this.#handle === 0) throw new TypeError(`${this.#action}: the session is closed`);
    if (bytes.length > 0) this.#write(this.#instance.exports.input(this.#handle, bytes.length), bytes);
  }

  /**
   * Processes `bytes`, which must not change, piece by piece, and yields the output of each step, even if empty or
   * before an error. `operation` applies to the last piece. Throws as {@linkcode advance} does.
   */
  *run(bytes: Uint8Array, operation: number, limits: PieceLimits): Generator<Uint8Array<ArrayBuffer>, void, undefined> {
    const { length: total } = bytes;
    for (let start = 0; start < total || start === 0; start += limits.input) {
      const piece = bytes.subarray(start, start + limits.input);
      this.write(piece);
      let { length } = piece;
      const isLast = start + length >= total; // computed first: the buffer in the codec may be transferred meanwhile
      for (let more = true; more; length = 0) {
        more = this.advance(length, isLast ? operation : PROCESS, limits.output);
        yield this.output().slice() as Uint8Array<ArrayBuffer>;
      }
    }
  }

  /**
   * Consumes the `length` bytes of the last {@linkcode write}, and makes up to `limit` bytes of output.
   * @returns whether there is more output, or an error after it.
   * @throws {TypeError} if the data is corrupt, ends too early, goes on after its end or needs another dictionary.
   * @throws {RangeError} if the data needs a larger window than is allowed, or memory runs out.
   */
  advance(length: number, operation: number, limit: number): boolean {
    if (this.#handle === 0) throw new TypeError(`${this.#action}: the session is closed`);
    if (this.#failure) throw this.#failure;
    let progress: number;
    try {
      progress = this.#instance.exports.step(this.#handle, length, operation, limit);
    } catch (cause) {
      throw this.#stopped(cause);
    }
    if (progress >= 0) return progress === HAS_OUTPUT;
    this.#failure = this.#reported();
    if (this.#instance.exports.output_length(this.#handle) === 0) throw this.#failure;
    return true;
  }

  /** Returns a view of the last step's output, valid until the next step. */
  output(): Uint8Array {
    const { exports } = this.#instance;
    return this.#instance.view(exports.output(this.#handle), exports.output_length(this.#handle));
  }

  #reported(): Error {
    return this.#error(faults[-1 - this.#instance.exports.fault_kind()], this.#instance.fault());
  }

  /** Returns the error for a codec that stopped midway, which leaves its memory in an unknown state. */
  #stopped(cause: unknown): Error {
    this.#instance.retire();
    return this.#error("memory", "the codec stopped, most likely out of memory", cause);
  }

  #error(fault: CodecFault, message: string, cause?: unknown): Error {
    const Kind = limits.includes(fault) ? RangeError : TypeError;
    const error = new Kind(`${this.#action}: ${message}`, cause === undefined ? undefined : { cause });
    return Object.defineProperty(error, "fault", { value: fault });
  }

  /** Frees the codec's memory. Further calls do nothing. */
  close(): void {
    if (this.#handle === 0) return;
    release(this.held);
    this.#handle = 0;
  }
}

function release({ instance, handle, need }: Held): void {
  instance.exports.close(handle);
  instance.leave(need);
}

/** The session of a stream, whose memory is freed, too, if the stream is dropped without cancel or abort. */
export class StreamSession extends Session {
  constructor(module: WasmModule, parameters: SessionParameters) {
    super(module, parameters);
    abandoned?.register(this, this.held, this); // 2 to 4 µs, and work for the garbage collector
  }

  override close(): void {
    abandoned?.unregister(this);
    super.close();
  }
}

const abandoned = /* @__PURE__ */ registry();

/** Returns the registry of sessions, which workers with a compatibility date before May 2025 lack. */
function registry(): FinalizationRegistry<Held> | undefined {
  return globalThis.FinalizationRegistry && new FinalizationRegistry(release);
}

/** Runs a codec over whole bytes in one call. */
export function runSync(
  input: Uint8Array,
  parameters: SessionParameters,
  module: WasmModule,
  maxSize: number,
): Uint8Array<ArrayBuffer> {
  const session = new Session(module, parameters);
  const whole = new WholeOutput(parameters.format, maxSize);
  try {
    const limits = { input: Infinity, output: Math.min(maxSize + 1, MAX_OUTPUT) };
    for (const piece of session.run(input, FINISH, limits)) whole.add(piece);
    return whole.join();
  } finally {
    session.close();
  }
}

/** Gathers the output of steps into one array of at most `maxSize` bytes. */
export class WholeOutput {
  readonly #format: Format;
  readonly #maxSize: number;
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  #length = 0;

  constructor(format: Format, maxSize: number) {
    this.#format = format;
    this.#maxSize = maxSize;
  }

  /** @throws {RangeError} if there are too many bytes. */
  add(piece: Uint8Array<ArrayBuffer>): void {
    this.#length += piece.length;
    if (this.#length > this.#maxSize) throw tooLarge(this.#format, this.#maxSize);
    if (this.#length > MAX_OUTPUT) {
      throw new RangeError(`cannot decompress ${this.#format}: more than 2 GiB: use DecompressionStream`);
    }
    if (piece.length > 0) this.#pieces.push(piece);
  }

  join(): Uint8Array<ArrayBuffer> {
    return this.#pieces.length === 1 ? this.#pieces[0] : joinBytes(this.#pieces, this.#length);
  }
}

export function tooLarge(format: Format, maxSize: number): RangeError {
  return new RangeError(`cannot decompress ${format}: the result is larger than maxSize, ${maxSize} bytes`);
}
