import type { ReadableStreamDefaultController, WritableStreamDefaultController } from "../streams/mod.ts";
import { NumberFormatter, type OnInvalidNumber } from "./number_formatter.ts";

/** The most bytes of a chunk that comes out. */
const CHUNK = 64 * 1024;

/** A batch that waits until the readable end wants a chunk. */
interface WaitingBatch {
  readonly numbers: readonly unknown[];
  resolve(): void;
  reject(reason: unknown): void;
}

/** What joins the two ends of a NumberToLineStream: the sink of the one, and the source of the other. */
export class LineWriter {
  readonly #formatter: NumberFormatter;
  /** Lines are made here and copied: only then is it known how long a chunk has to be. */
  readonly #lines = new Uint8Array(CHUNK);
  #readable: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> = undefined as never; // set at once
  #writable: WritableStreamDefaultController = undefined as never;
  #isWanted = false;
  #waiting: WaitingBatch | undefined = undefined;

  constructor(onInvalid: OnInvalidNumber | undefined) {
    this.#formatter = new NumberFormatter(onInvalid);
  }

  connectReadable(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): void {
    this.#readable = controller;
  }

  connectWritable(controller: WritableStreamDefaultController): void {
    this.#writable = controller;
    // The stream's abort waits for the batch in flight, which may wait for a reader: that wait ends at once.
    controller.signal.addEventListener("abort", () => this.abort(controller.signal.reason), { once: true });
  }

  writev(numbers: readonly unknown[]): void | Promise<void> {
    if (this.#isWanted) return this.#write(numbers);
    return new Promise((resolve, reject) => this.#waiting = { numbers, resolve, reject });
  }

  close(): void {
    this.#readable.close();
  }

  /** The writable end fails: so does the readable one. */
  abort(reason: unknown): void {
    this.#readable.error(reason);
    this.#fail(reason);
  }

  /** The readable end is to give a chunk. */
  pull(): void {
    this.#isWanted = true;
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    try {
      this.#write(waiting.numbers);
      waiting.resolve();
    } catch (error) {
      waiting.reject(error);
    }
  }

  /** The readable end is cancelled: so is what would write to it. */
  cancel(reason: unknown): void {
    this.#writable.error(reason);
    this.#fail(reason);
  }

  /** The batch that waits will not be written. */
  #fail(reason: unknown): void {
    this.#waiting?.reject(reason);
    this.#waiting = undefined;
  }

  /** Gives a batch as one chunk, or as few as it has room in. */
  #write(numbers: readonly unknown[]): void {
    const formatter = this.#formatter;
    try {
      for (let next = 0; next < numbers.length; next = formatter.next) {
        formatter.format(numbers, next, this.#lines, 0);
        if (formatter.end === 0) continue;
        this.#isWanted = false; // before the call, which may pull
        this.#readable.enqueue(this.#lines.slice(0, formatter.end));
      }
    } catch (error) {
      this.#readable.error(error);
      throw error;
    }
  }
}
