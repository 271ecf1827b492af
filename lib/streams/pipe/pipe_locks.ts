import { DefaultReaderState } from "../readable/reader_state.ts";
import type { Task } from "../shortcuts/task.ts";
import { WriterState } from "../writable/writer_state.ts";

/** The reader of a pipe: what happens to the stream wakes the pipe. Nobody sees its promise. */
export class PipeReaderState extends DefaultReaderState {
  readonly #pipe: Task;
  override readonly mostPullsAtOnce = 64;

  constructor(pipe: Task) {
    super();
    this.#pipe = pipe;
  }
  override streamClosed(): void {
    super.streamClosed();
    this.#pipe.wake();
  }
  override streamErrored(error: unknown): void {
    super.streamErrored(error);
    this.#pipe.wake();
  }
  override released(): void {} // an error that nobody sees would cost 4 µs, for its stack
}

/** The writer of a pipe; nobody sees its promises. */
export class PipeWriterState extends WriterState {
  readonly #pipe: Task;

  constructor(pipe: Task) {
    super();
    this.#pipe = pipe;
  }
  override becameFull(): void {}
  override becameReady(): void {
    this.#pipe.wake();
  }
  override startedErroring(): void {}
  override streamErrored(): void {
    this.#pipe.wake();
  }
  override streamClosed(): void {
    this.#pipe.wake();
  }
  override released(): void {}
}
