import { atEndOfTurn, bytesOfView, described } from "../streams/internal.ts";
import type { BodyEncoder } from "./encoding.ts";

/** The beginning of a body that is read already, and the rest of it. */
export interface BodySource {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  /** Chunks that came before. */
  readonly begun: readonly Uint8Array[];
  /** A read that is under way. */
  readonly reading: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
}

/** A source gives no chunk in a turn of the event loop. */
export const PAUSED: unique symbol = Symbol("paused");

/** The microtasks in which bodies of text and bytes are read, with some to spare. */
const READY_WITHIN = 12;

/** Settles as `reading` does, or with {@linkcode PAUSED} when the turn ends before that. */
export async function inThisTurn<T>(reading: Promise<T>): Promise<T | typeof PAUSED> {
  let isSettled = false;
  const settle = (): void => void (isSettled = true);
  reading.then(settle, settle);
  // Saves the timer, which takes longer than all the rest: 60 of 85 µs on Deno.
  for (let i = 0; i < READY_WITHIN && !isSettled; i++) await undefined;
  if (isSettled) return await reading;
  return await new Promise((resolve, reject) => {
    reading.then(resolve, reject);
    // One turn more, so that what came from the network in this one has had its microtasks.
    atEndOfTurn(() => atEndOfTurn(() => resolve(PAUSED)));
  });
}

/**
 * Returns the stream of a body's compressed form. Whenever the source pauses, everything it gave can be decompressed by
 * the client; while the client does not read, nothing is read from the source.
 */
export function encodedBody(source: BodySource, encoder: BodyEncoder): ReadableStream<Uint8Array> {
  const body = new EncodedBody(source, encoder);
  return new globalThis.ReadableStream<Uint8Array>({
    pull: (controller) => body.pull(controller),
    cancel: (reason) => body.cancel(reason),
  }, { highWaterMark: 0 });
}

/**
 * Returns the bytes of a chunk. Servers send strings, too.
 *
 * @throws {TypeError} if it has none.
 */
export function chunkBytes(chunk: unknown): Uint8Array {
  if (ArrayBuffer.isView(chunk)) return bytesOfView(chunk);
  if (typeof chunk === "string") return new TextEncoder().encode(chunk);
  throw new TypeError(`a response's body must give bytes, not ${described(chunk)}`);
}

/** Returns the stream of a body as it is. */
export function plainBody({ reader, begun, reading }: BodySource): ReadableStream<Uint8Array> {
  let under = reading;
  return new globalThis.ReadableStream<Uint8Array>({
    start: (controller) => begun.forEach((chunk) => controller.enqueue(chunk)),
    async pull(controller): Promise<void> {
      const { done, value } = await (under ?? reader.read());
      under = undefined;
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

class EncodedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #encoder: BodyEncoder;
  readonly #begun: Uint8Array[];
  #reading: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  /** Whether the encoder holds something that was not put out. */
  #isDirty = false;
  #isCancelled = false;
  /** The source's failure, kept until everything that it gave has been put out. */
  #failure: { readonly error: unknown } | undefined;

  constructor({ reader, begun, reading }: BodySource, encoder: BodyEncoder) {
    this.#reader = reader;
    this.#begun = [...begun];
    this.#reading = reading;
    this.#encoder = encoder;
  }

  /** Goes on until there is output, or the body has ended. */
  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      if (this.#failure !== undefined) throw this.#failure.error;
      while (!await this.#step(controller));
    } catch (error) {
      if (this.#failure === undefined && this.#isDirty && this.#put(controller, this.#rest())) {
        this.#failure = { error }; // for the next pull, as an error drops what waits
        return;
      }
      this.#encoder.close();
      void this.#reader.cancel(error).catch(() => {}); // it may be what failed
      throw error;
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.#isCancelled = true;
    this.#encoder.close();
    await this.#reader.cancel(reason);
  }

  /** Reads and encodes one chunk, or flushes; returns whether there was output. */
  async #step(controller: ReadableStreamDefaultController<Uint8Array>): Promise<boolean> {
    const chunk = this.#begun.shift();
    if (chunk !== undefined) return this.#put(controller, this.#write(chunk));
    this.#reading ??= this.#reader.read();
    const read = await (this.#isDirty ? inThisTurn(this.#reading) : this.#reading);
    if (this.#isCancelled) return true;
    if (read === PAUSED) return this.#put(controller, this.#flush());
    this.#reading = undefined;
    if (!read.done) return this.#put(controller, this.#write(chunkBytes(read.value)));
    this.#put(controller, this.#encoder.finish());
    controller.close();
    return true;
  }

  #flush(): Uint8Array[] {
    this.#isDirty = false;
    return this.#encoder.flush();
  }

  /** Returns the output that the encoder still holds; none if it is the encoder that has failed. */
  #rest(): Uint8Array[] {
    try {
      return this.#flush();
    } catch {
      return [];
    }
  }

  #write(chunk: Uint8Array): Uint8Array[] {
    const output = this.#encoder.write(chunk);
    this.#isDirty = true;
    return output;
  }

  #put(controller: ReadableStreamDefaultController<Uint8Array>, output: readonly Uint8Array[]): boolean {
    for (const piece of output) controller.enqueue(piece);
    return output.length > 0;
  }
}
