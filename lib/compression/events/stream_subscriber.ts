import { newPlace, type Place, type Subscriber } from "./feed.ts";

/** Reports of a subscriber to its channel. */
export interface Reports {
  /** It reads everything that it was sent, after it did not keep up. */
  drained(subscriber: Subscriber): void;
  /** Its client has left. */
  left(subscriber: Subscriber): void;
}

/** A subscriber that reads the body of a `Response`. */
export class StreamSubscriber implements Subscriber, UnderlyingDefaultSource<Uint8Array> {
  readonly place: Place = newPlace();
  readonly #reports: Reports;
  readonly #maxBuffered: number;
  /** The bytes that may wait now. */
  #allowed: number;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(reports: Reports, maxBuffered: number) {
    this.#reports = reports;
    this.#maxBuffered = maxBuffered;
    this.#allowed = maxBuffered;
  }

  /** Returns the body. */
  body(): ReadableStream<Uint8Array> {
    return new globalThis.ReadableStream<Uint8Array>(this, { highWaterMark: 1, size: byteLength });
  }

  /** Called by the stream. */
  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
  }

  /** Called by the stream when all of it has been read. */
  pull(): void {
    this.#allowed = this.#maxBuffered;
    this.#reports.drained(this);
  }

  /** Called by the stream. */
  cancel(): void {
    this.#reports.left(this);
  }

  begin(bytes: Uint8Array): void {
    this.#allowed += bytes.length;
    this.write(bytes);
  }

  write(bytes: Uint8Array): boolean {
    this.#controller.enqueue(bytes.slice()); // a reader may transfer its chunks
    return -this.#controller.desiredSize! < this.#allowed;
  }

  end(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#controller.enqueue(bytes.slice());
    this.#controller.close();
  }

  drop(reason: string): void {
    this.#controller.error(new Error(`a subscriber was cut off: ${reason}`));
    this.#reports.left(this);
  }
}

function byteLength(chunk: Uint8Array): number {
  return chunk.length;
}
