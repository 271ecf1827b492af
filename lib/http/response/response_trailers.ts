import type { HeaderList } from "../exchange.ts";
import { ResponseHeaders } from "./response_headers.ts";

/** A promise of the fields after a response's body. Its rejection is never an unhandled one: few ask what became of it. */
export class ResponseTrailers {
  readonly promise: Promise<Headers>;
  #resolve!: (trailers: Headers) => void;
  #reject!: (reason: unknown) => void;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.promise.catch(() => {});
  }

  /** The body has ended. Only the first settles it. */
  resolve(trailers: HeaderList): void {
    this.#resolve(new ResponseHeaders(trailers));
  }

  /** The body's end will not come. */
  reject(reason: unknown): void {
    this.#reject(reason);
  }
}
