import { ReadableStream, WritableStream } from "../streams/mod.ts";
import type { Codecs } from "./module.ts";
import { bytesOf, type SessionParameters } from "./options.ts";
import { FINISH, FLUSH, PROCESS, Session } from "./session.ts";

/** The most input that one step takes, in bytes: larger chunks are handed over in pieces. */
const INPUT_PIECE = 256 * 1024;
/** The most output of one step, in bytes; also the size of the chunks that come out of large inputs. */
const OUTPUT_PIECE = 64 * 1024;

/** Checks on the bytes that pass a codec stream, each of which may throw; and what it does with each chunk. */
export interface Watch {
  /** Whether each chunk can be read as soon as it is written. */
  readonly flush?: boolean;
  /** Called with each number of bytes consumed. */
  input?(length: number): void;
  /** Called with each number of bytes produced. */
  output?(length: number): void;
  /** Called when the input is complete. */
  end?(): void;
}

/** The two ends of a codec stream. */
export interface Ends {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly writable: WritableStream<ArrayBufferView | ArrayBufferLike>;
}

/**
 * A pair of streams with a codec between them, like a TransformStream but with backpressure inside a chunk too: one
 * small chunk may decompress to gigabytes, and only what the reader asked for is produced.
 */
export function codecStream(codecs: Codecs, parameters: SessionParameters, watch: Watch): Ends {
  const pump = new Pump(codecs, parameters, watch);
  const readable = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => pump.connectReadable(controller),
    pull: () => pump.demanded(),
    cancel: (reason) => pump.cancelled(reason),
  }, { highWaterMark: 0 });
  const writable = new WritableStream<ArrayBufferView | ArrayBufferLike>({
    start: (controller) => pump.connectWritable(controller),
    write: (chunk) => pump.write(chunk),
    close: () => pump.finish(),
  });
  return { readable, writable };
}

class Pump {
  readonly #codecs: Codecs;
  #parameters: SessionParameters;
  #watch: Watch;
  #session: Session | undefined;
  #reader!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;
  #writer!: WritableStreamDefaultController;
  #ended = false;
  /** Resumes a write that waits for the reader. */
  #resume: (() => void) | undefined;
  /** Lets the reader's pull go on once something is enqueued. */
  #served: (() => void) | undefined;

  constructor(codecs: Codecs, parameters: SessionParameters, watch: Watch) {
    this.#codecs = codecs;
    this.#parameters = parameters;
    this.#watch = watch;
  }

  connectReadable(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#reader = controller;
  }

  connectWritable(controller: WritableStreamDefaultController): void {
    this.#writer = controller;
    // An abort waits for the write in flight, which may wait for a reader: end that wait at once.
    controller.signal.addEventListener("abort", () => this.fail(controller.signal.reason), { once: true });
  }

  /** The reader wants a chunk: settles when there is one. */
  demanded(): Promise<void> {
    this.#resume?.();
    return new Promise((resolve) => this.#served = resolve);
  }

  async write(chunk: ArrayBufferView | ArrayBufferLike): Promise<void> {
    try {
      const bytes = bytesOf(chunk, "chunk");
      for (let start = 0; start < bytes.length; start += INPUT_PIECE) {
        const isLast = start + INPUT_PIECE >= bytes.length;
        const operation = isLast && this.#watch.flush ? FLUSH : PROCESS;
        await this.#consume(bytes.subarray(start, start + INPUT_PIECE), operation);
      }
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  async finish(): Promise<void> {
    try {
      this.#watch.end?.();
      await this.#consume(new Uint8Array(0), FINISH);
      if (this.#ended) return;
      this.#end();
      this.#reader.close();
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** The reader is gone: later writes fail with its reason. */
  cancelled(reason: unknown): void {
    this.#end();
    this.#writer.error(reason);
  }

  /** The data or the writer failed: so does the reader, after what is already queued for it. */
  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#end();
    this.#reader.error(reason);
  }

  #end(): void {
    this.#ended = true;
    this.#session?.close();
    this.#session = undefined;
    this.#resume?.();
    this.#served?.();
  }

  async #consume(bytes: Uint8Array, operation: number): Promise<void> {
    const session = this.#session ?? await this.#open();
    if (!session) return;
    this.#watch.input?.(bytes.length);
    session.write(bytes);
    let length = bytes.length;
    let more = true;
    while (more) {
      const step = session.step(length, operation, OUTPUT_PIECE);
      length = 0;
      more = step.more;
      if (step.output.length === 0) continue;
      this.#watch.output?.(step.output.length);
      await this.#deliver(step.output);
      if (this.#ended) return;
    }
  }

  async #open(): Promise<Session | undefined> {
    const module = await this.#codecs.load(this.#parameters.family);
    if (!this.#ended) this.#session = new Session(module, this.#parameters);
    return this.#session;
  }

  /** Enqueues `output` and waits until the reader has room for more. */
  async #deliver(output: Uint8Array<ArrayBuffer>): Promise<void> {
    this.#reader.enqueue(output);
    this.#served?.();
    this.#served = undefined;
    if (this.#reader.desiredSize! > 0) return;
    await new Promise<void>((resolve) => this.#resume = resolve);
    this.#resume = undefined;
  }
}
