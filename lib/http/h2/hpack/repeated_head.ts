import type { HeaderList, RequestHead } from "../../exchange.ts";

const NO_BYTES = new Uint8Array(0);

/**
 * The last request's head, as it was sent, to send it again: most requests on a connection differ in `:path` only. Comparing
 * with the last one costs a third of looking up each field.
 */
export class RepeatedHead {
  /** What is sent before `:path`. */
  before: Uint8Array = NO_BYTES;
  /** What is sent after it. */
  after: Uint8Array = NO_BYTES;
  #added = -1;
  #method = "";
  #authority = "";
  #scheme = "";
  #contentLength: number | undefined = undefined;
  #headers: HeaderList = [];

  /** The next head is a new one: indexes have changed. */
  forget(): void {
    this.#added = -1;
  }

  /**
   * Whether a head can be sent as the one that is remembered, but for `:path`.
   *
   * @param head The request.
   * @param contentLength Its body's bytes, if they are sent.
   * @param added How many entries were added to the dynamic table so far: indexes change with it.
   */
  is(head: RequestHead, contentLength: number | undefined, added: number): boolean {
    if (added !== this.#added || contentLength !== this.#contentLength || head.method !== this.#method) return false;
    if (head.authority !== this.#authority || head.scheme !== this.#scheme) return false;
    const headers = head.headers;
    const known = this.#headers;
    if (headers.length !== known.length) return false;
    for (let i = 0; i < known.length; i++) if (headers[i] !== known[i]) return false;
    return true;
  }

  /**
   * Remembers a head. It must not have added anything to the dynamic table.
   *
   * @param head The request.
   * @param contentLength Its body's bytes, if they are sent.
   * @param added As for {@link RepeatedHead.is}.
   */
  remember(head: RequestHead, contentLength: number | undefined, added: number): void {
    this.#added = added;
    this.#method = head.method;
    this.#authority = head.authority;
    this.#scheme = head.scheme;
    this.#contentLength = contentLength;
    this.#headers = head.headers.slice();
  }
}
