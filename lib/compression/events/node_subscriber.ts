import type { ServerResponse } from "node:http";
import { newPlace, type Place, type Subscriber } from "./feed.ts";
import type { Reports } from "./stream_subscriber.ts";

/** A subscriber behind a response of `node:http` or `node:http2`. */
export class NodeSubscriber implements Subscriber {
  readonly place: Place = newPlace();
  readonly #reports: Reports;
  readonly #res: ServerResponse;
  readonly #maxBuffered: number;
  /** The bytes written since the response was found full, beside those that filled it. */
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

  /** Whether somebody else has ended the response, which is closed only when its client has read everything. */
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
