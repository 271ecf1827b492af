import { asGlobalStreamPair } from "../streams/internal.ts";
import type { Format } from "./format.ts";
import { type Codec, codecOf, type Codecs } from "./module.ts";
import {
  type CompressionStreamOptions,
  compressionStreamOptions,
  compressParameters,
  type DecompressionStreamOptions,
  decompressionStreamOptions,
  decompressParameters,
  owned,
  requireBytes,
  type SessionParameters,
} from "./options.ts";
import { pump, readable } from "./pump.ts";
import { FINISH, FLUSH, type PieceLimits, PROCESS, type Session, StreamSession, tooLarge } from "./session.ts";

/** The sizes of pieces that larger chunks are processed in, and of chunks of output. */
const PIECES: PieceLimits = { input: 64 * 1024, output: 64 * 1024 };

/** The checks that a codec stream makes of the bytes that pass, each of which may throw, and its option `flush`. */
interface Watch {
  /** Whether each chunk can be read as soon as it is written. */
  readonly flush?: boolean;
  input?(length: number): void;
  output?(length: number): void;
  end?(): void;
}

interface Ends {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<ArrayBufferView | ArrayBufferLike>;
}

/** The classes of the ends: those of this package, or those of the runtime, so that this package's need not be loaded. */
type Streams = Pick<typeof globalThis, "ReadableStream" | "WritableStream">;

const ends = new WeakMap<object, Ends>();

/** @throws {TypeError} if `pair` is not the stream of a codec. */
export function endsOf(pair: object): Ends {
  const found = ends.get(pair);
  if (found === undefined) throw new TypeError("Value of 'this' must be a stream of a codec");
  return found;
}

/** Makes the class of an entry that compresses to a default format, with the runtime's streams at its ends. */
export function compressionClass(codecs: Codecs, usual: Format): PairClass<CompressionStreamOptions> {
  return pairClass("CompressionStream", (pair, format = usual, options) => encode(pair, codecs, format, options));
}

export function decompressionClass(codecs: Codecs, usual: Format): PairClass<DecompressionStreamOptions> {
  return pairClass("DecompressionStream", (pair, format = usual, options) => decode(pair, codecs, format, options));
}

type PairClass<Options> = new (format?: Format, options?: Options) => Ends;

function pairClass<Options>(
  name: string,
  open: (pair: object, format?: Format, options?: Options) => void,
): PairClass<Options> {
  class CodecStream implements Ends {
    constructor(format?: Format, options?: Options) {
      const pair = asGlobalStreamPair(this, new.target);
      open(pair, format, options);
      return pair;
    }

    get readable(): Ends["readable"] {
      return endsOf(this).readable;
    }

    get writable(): Ends["writable"] {
      return endsOf(this).writable;
    }
  }
  Object.defineProperty(CodecStream.prototype, Symbol.toStringTag, { value: name, configurable: true });
  return Object.defineProperty(CodecStream, "name", { value: name, configurable: true });
}

export function encode(
  pair: object,
  codecs: Codecs,
  format: Format,
  options?: CompressionStreamOptions,
  streams: Streams = globalThis,
): void {
  const checked = compressionStreamOptions.check(options);
  const { size, flush } = checked;
  const parameters = compressParameters({ ...checked, format }, size ?? -1, false);
  let seen = 0;
  codecStream(pair, codecOf(codecs, parameters), parameters, streams, {
    flush,
    input(length: number): void {
      seen += length;
      if (size !== undefined && seen > size) throw wrongSize(`at least ${seen}`, size);
    },
    end(): void {
      if (size !== undefined && seen !== size) throw wrongSize(String(seen), size);
    },
  });
}

function wrongSize(seen: string, size: number): RangeError {
  return new RangeError(`the stream has ${seen} bytes, but its size was given as ${size}`);
}

export function decode(
  pair: object,
  codecs: Codecs,
  format: Format,
  options?: DecompressionStreamOptions,
  streams: Streams = globalThis,
): void {
  const checked = decompressionStreamOptions.check(options);
  const { maxSize = Infinity } = checked;
  let produced = 0;
  const parameters = decompressParameters({ ...checked, format }, false);
  codecStream(pair, codecOf(codecs, parameters), parameters, streams, {
    output(length: number): void {
      produced += length;
      if (produced > maxSize) throw tooLarge(format, maxSize);
    },
  });
}

/** Makes `pair` a pair of streams with a codec between them, which produces only as much output as is read. */
function codecStream(pair: object, codec: Codec, parameters: SessionParameters, streams: Streams, watch: Watch): void {
  const { ReadableStream, WritableStream } = streams;
  const pump = new Pump(codec, owned(parameters), watch);
  const readable = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => pump.connectReadable(controller),
    pull: () => pump.demanded(),
    cancel: (reason) => pump.cancelled(reason),
  }, { highWaterMark: 0 });
  const writable = new WritableStream<ArrayBufferView | ArrayBufferLike>({
    start: (controller) => pump.connectWritable(controller),
    write: (chunk) => pump.run(watch.flush ? FLUSH : PROCESS, chunk),
    close: () => pump.run(FINISH, new Uint8Array(0)),
  });
  ends.set(pair, { readable, writable });
}

class Pump {
  readonly #codec: Codec;
  #parameters: SessionParameters;
  #watch: Watch;
  #session: Session | undefined;
  #reader!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #writer!: WritableStreamDefaultController;
  /** The reason of the end of the stream; undefined before that. */
  #ended: { readonly reason: unknown } | undefined;
  #isWanted = false;
  /** Resumes a write that waits for a read. */
  #resume: (() => void) | undefined;

  constructor(codec: Codec, parameters: SessionParameters, watch: Watch) {
    this.#codec = codec;
    this.#parameters = parameters;
    this.#watch = watch;
  }

  connectReadable(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#reader = controller;
  }

  connectWritable(controller: WritableStreamDefaultController): void {
    this.#writer = controller;
    // An abort waits for the write in flight, which may wait for a reader: ends the latter wait at once.
    controller.signal.addEventListener("abort", () => this.fail(controller.signal.reason), { once: true });
  }

  demanded(): void {
    this.#isWanted = true;
    this.#resume?.();
  }

  /**
   * Processes a chunk, or the end. Each piece of output is enqueued for a pending read, and the write settles with the
   * last piece. At the end, one piece is queued without a pending read, since no write waits for it.
   */
  async run(operation: number, chunk: ArrayBufferView | ArrayBufferLike): Promise<void> {
    const isEnd = operation === FINISH;
    try {
      const given = requireBytes(chunk, "chunk");
      if (isEnd) this.#watch.end?.();
      else if (given.length === 0) return;
      this.#watch.input?.(given.length);
      const { module: loaded } = this.#codec;
      const bytes = readable(given, loaded, PIECES); // the standard allows to transfer a chunk while it is written
      const module = loaded ?? await this.#wait(this.#codec.load());
      this.#session ??= new StreamSession(module, this.#parameters);
      const pumping = pump(this.#session.run(bytes, operation, PIECES), (output) => this.#put(output, isEnd));
      if (pumping) await this.#wait(pumping);
      if (!isEnd) return;
      this.#end(undefined);
      this.#reader.close();
    } catch (error) {
      this.fail(error);
      // The reason of the first failure: closing the session makes its running steps fail, too.
      throw this.#ended!.reason;
    }
  }

  #put(output: Uint8Array<ArrayBuffer>, isEnd: boolean): void | Promise<void> {
    if (this.#ended) throw this.#ended.reason; // the step ran before the end, in another turn of the event loop
    this.#watch.output?.(output.length);
    if (this.#isWanted || (isEnd && this.#reader.desiredSize === 0)) return this.#enqueue(output);
    return this.#wait(new Promise<void>((resolve) => this.#resume = resolve)).then(() => this.#enqueue(output));
  }

  #enqueue(output: Uint8Array<ArrayBuffer>): void {
    this.#isWanted = false;
    this.#reader.enqueue(output);
  }

  /** Handles the cancellation of the readable end: later writes fail with its reason. */
  cancelled(reason: unknown): void {
    this.#end(reason);
    this.#writer.error(reason);
  }

  /** Handles an error of the data or the writer: the reader fails, too, after all queued output. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#end(reason);
    this.#reader.error(reason);
  }

  #end(reason: unknown): void {
    this.#ended = { reason };
    this.#session?.close();
    this.#resume?.();
  }

  async #wait<T>(promise: Promise<T>): Promise<T> {
    const value = await promise;
    if (this.#ended) throw this.#ended.reason;
    return value;
  }
}
