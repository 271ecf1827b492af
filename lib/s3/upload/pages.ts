/** Bytes of a page: as many as the HTTP client writes at a time. */
const PAGE = 128 * 1024;

/** Memory into which files are read while they are sent: as many pages as are in use at a time, used again and again. */
export class Pages {
  readonly #free: Uint8Array[] = [];

  /** A page. */
  take(): Uint8Array {
    return this.#free.pop() ?? new Uint8Array(PAGE);
  }

  /** Gives a page back, which nobody reads or writes any more. */
  give(page: Uint8Array): void {
    this.#free.push(page);
  }
}
