import type { ServerResponse } from "node:http";
import type { Place, Subscriber } from "./feed.ts";

export interface Reports {
  /** Called when a slow subscriber has read everything sent to it. */
  drained(subscriber: Subscriber): void;
  left(subscriber: Subscriber): void;
}

/** The high-water mark with which a stream pulls only when its queue is empty. */
const HIGH_WATER_MARK = 1;

/** A subscriber that reads the body of a `Response`. */
export class StreamSubscriber implements Subscriber, UnderlyingDefaultSource<Uint8Array> {
  readonly place: Place = { isWithin: false, crc: 0, length: 0, joinedAt: 0 };
  readonly #reports: Reports;
  readonly #maxBuffered: number;
  /** The maximum of pending bytes now, which includes those sent while none were pending. */
  #allowed = 0;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(reports: Reports, maxBuffered: number) {
    this.#reports = reports;
    this.#maxBuffered = maxBuffered;
  }

  body(): ReadableStream<Uint8Array> {
    const size = (chunk: Uint8Array): number => chunk.length;
    return new globalThis.ReadableStream<Uint8Array>(this, { highWaterMark: HIGH_WATER_MARK, size });
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
  }

  /** Called by the stream when its queue is empty. */
  pull(): void {
    this.#reports.drained(this);
  }

  cancel(): void {
    this.#reports.left(this);
  }

  write(bytes: Uint8Array): boolean {
    const isEmpty = this.#controller.desiredSize! === HIGH_WATER_MARK;
    if (isEmpty) this.#allowed = this.#maxBuffered + bytes.length;
    this.#controller.enqueue(bytes.slice()); // a reader may transfer its chunks
    return HIGH_WATER_MARK - this.#controller.desiredSize! <= this.#allowed;
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

/** A subscriber behind a response of `node:http` or `node:http2`. */
export class NodeSubscriber implements Subscriber {
  readonly place: Place = { isWithin: false, crc: 0, length: 0, joinedAt: 0 };
  readonly #reports: Reports;
  readonly #res: ServerResponse;
  readonly #maxBuffered: number;
  /** The bytes written since the response was full, without the write that filled it. */
  #buffered = 0;
  #isWaiting = false;

  constructor(reports: Reports, res: ServerResponse, maxBuffered: number) {
    this.#reports = reports;
    this.#res = res;
    this.#maxBuffered = maxBuffered;
    res.on("close", () => reports.left(this)); // once() takes more memory
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isEnded) {
      this.#reports.left(this);
      return true;
    }
    if (this.#res.write(bytes)) return true;
    if (!this.#isWaiting) this.#waitForDrain();
    else this.#buffered += bytes.length;
    return this.#buffered <= this.#maxBuffered;
  }

  /** Whether the application has ended the response; it closes only once the client has read everything. */
  get #isEnded(): boolean {
    return this.#res.writableEnded;
  }

  #waitForDrain(): void {
    this.#isWaiting = true;
    this.#res.once("drain", () => {
      this.#isWaiting = false;
      this.#buffered = 0;
      this.#reports.drained(this);
    });
  }

  end(bytes: Uint8Array): void {
    if (!this.#isEnded) this.#res.end(bytes);
  }

  drop(): void {
    this.#res.destroy();
    this.#reports.left(this);
  }
}
