/** What comes of a body that nobody wants any more. */
export class RestOfBody {
  /** Undefined if somebody else holds it. */
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined;
  #reading: Promise<number | undefined> | undefined = undefined;
  #isReading = false;

  constructor(body: ReadableStream<Uint8Array>) {
    if (body.locked) return;
    this.#reader = body.getReader();
    this.#reader.closed.catch(() => {}); // the sender has left
  }

  /** Whether somebody else holds it. */
  get isHeld(): boolean {
    return this.#reader === undefined;
  }

  /** Whether a read waits for more. */
  get isReading(): boolean {
    return this.#isReading;
  }

  /**
   * Reads and drops up to `maxBytes`, as long as `over` is not fulfilled.
   *
   * @returns whether it has ended, or there is more.
   */
  async drop(maxBytes: number, over: Promise<unknown>): Promise<"ended" | "more"> {
    if (this.#reader === undefined) return "more";
    const stopped = over.then(() => "stopped" as const);
    for (let bytes = 0; bytes < maxBytes;) {
      this.#reading ??= this.#read(this.#reader);
      const read = await Promise.race([this.#reading, stopped]);
      if (read === "stopped") return "more";
      this.#reading = undefined;
      if (read === undefined) return "ended";
      bytes += read;
    }
    return "more";
  }

  /** The bytes that a read gives; undefined at the end. */
  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<number | undefined> {
    this.#isReading = true;
    try {
      return (await reader.read()).value?.length;
    } catch {
      return undefined;
    } finally {
      this.#isReading = false;
    }
  }

  /** Lets go of it. */
  async cancel(): Promise<void> {
    await this.#reader?.cancel().catch(() => {}); // it has failed already
  }
}
