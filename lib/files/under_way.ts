import type { OpenFile } from "./open_file.ts";

/** For how long a write under way is waited for, in ms. */
const LONGEST = 2000;

/** A write that another thread of the process does, and that can be waited for without a turn of the event loop. */
export class UnderWay {
  readonly #file: OpenFile;
  readonly #end: number;

  /** @param end The size that the file has when the write has ended. */
  constructor(file: OpenFile, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /**
   * Waits until the system has the bytes; of a pipe or a device nobody can know that.
   *
   * @throws {Error} if it takes longer than two seconds, as when the write has failed.
   */
  awaitNow(path: string): void {
    const start = performance.now();
    const clock = new Int32Array(new SharedArrayBuffer(4));
    for (;;) {
      const status = this.#file.status();
      if (status.size >= this.#end || !status.isFile()) return;
      if (performance.now() - start > LONGEST) {
        throw new Error(`Cannot flush ${path}: a write has not ended within ${LONGEST} ms`);
      }
      Atomics.wait(clock, 0, 0, 1);
    }
  }
}
