import { DefaultReaderState } from "../readable/reader_state.ts";
import { schedule, type Task } from "../scheduler.ts";
import { WriterState } from "../writable/writer_state.ts";

/** The reader of a pipe: what happens to the stream wakes the pipe. Nobody sees its promise. */
export class PipeReaderState extends DefaultReaderState {
  readonly #pipe: Task;
  override readonly fused = true;

  constructor(pipe: Task) {
    super();
    this.#pipe = pipe;
  }
  override streamClosed(): void {
    super.streamClosed();
    schedule(this.#pipe);
  }
  override streamErrored(error: unknown): void {
    super.streamErrored(error);
    schedule(this.#pipe);
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
    schedule(this.#pipe);
  }
  override startedErroring(): void {}
  override streamErrored(): void {
    schedule(this.#pipe);
  }
  override streamClosed(): void {
    schedule(this.#pipe);
  }
  override released(): void {}
}
