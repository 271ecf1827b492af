/** The requests of a handler that are under way, and whether more of them are taken. */
export class Activity {
  /** Whether the handler is closed: requests are refused, and connections end with their answers. */
  isOver = false;
  #requests = 0;
  readonly #end = Promise.withResolvers<void>();

  /** Calls `use` as a request that is waited for. */
  async during<T>(use: () => Promise<T>): Promise<T> {
    this.#requests++;
    try {
      return await use();
    } finally {
      this.#requests--;
      this.#look();
    }
  }

  /** Takes no more requests; resolves when all are answered. */
  end(): Promise<void> {
    this.isOver = true;
    this.#look();
    return this.#end.promise;
  }

  #look(): void {
    if (this.isOver && this.#requests === 0) this.#end.resolve();
  }
}
