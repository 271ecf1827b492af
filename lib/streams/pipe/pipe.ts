import { endedError } from "../language/errors.ts";
import { Deferred, queueReaction, react, waitForAll } from "../language/promises.ts";
import { DefaultControllerState } from "../readable/default_controller_state.ts";
import type { RunningPipe } from "../readable/pull_run.ts";
import {
  DefaultReaderState,
  disturb,
  readableStreamReaderGenericInitialize,
  readableStreamReaderRelease,
  type ReadRequest,
} from "../readable/stream_state.ts";
import { readableStreamCancel, type ReadableStreamState } from "../readable/stream_state.ts";
import { countAsMany, Task } from "../shortcuts/task.ts";
import { writableStreamPipeWrite } from "../writable/pipe_write.ts";
import {
  isClosingOrClosed,
  writableStreamAbort,
  type WritableStreamState,
  type WriteRequest,
} from "../writable/stream_state.ts";
import {
  setUpWritableStreamDefaultWriter,
  writableStreamDefaultWriterCloseWithErrorPropagation,
  writableStreamDefaultWriterRelease,
  WriterState,
} from "../writable/writer_state.ts";
import type { PendingWrites, ReadableEnd, WritableEnd } from "./pipe_ends.ts";
import type { PipeCounts, PipeOptions } from "./pipe_options.ts";

/** The reader of a pipe or broadcast, whose promises user code cannot observe: the end of the stream wakes its owner. */
export class PipeReaderState extends DefaultReaderState {
  readonly #owner: Pick<Task, "wake">;
  override readonly mostPullsAtOnce = 64;

  constructor(owner: Pick<Task, "wake">) {
    super();
    this.#owner = owner;
  }
  override streamClosed(): void {
    super.streamClosed();
    this.#owner.wake();
  }
  override streamErrored(error: unknown): void {
    super.streamErrored(error);
    this.#owner.wake();
  }
  override released(): void {} // without the error, which user code cannot observe and whose stack takes 4 µs
}

/** The writer of a pipe, whose promises user code cannot observe. */
class PipeWriterState extends WriterState {
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

interface Failure {
  readonly error: unknown;
}

const { addEventListener, removeEventListener } = EventTarget.prototype;

/** The number of chunks after which a pipe yields to other pipes, and the weight of a whole run in that count. */
const BUDGET = 128;
const RUN = 16;

/**
 * A pipe: a task that moves chunks while the destination has room, and waits for the streams to wake it. The same
 * object is the read request, since one read is pending at a time, and the write request of all writes, which it only
 * counts.
 *
 * A chunk that arrives from an `enqueue()` is kept until the pipe's turn: a sink is never called from within a source.
 *
 * @see {@link https://streams.spec.whatwg.org/#readable-stream-pipe-to}
 */
export class Pipe extends Task implements ReadRequest, WriteRequest, PendingWrites, RunningPipe {
  readonly settlesAtOnce = true;
  readonly #source: ReadableStreamState;
  readonly #destination: WritableStreamState;
  readonly #sourceEnd: ReadableEnd;
  readonly #destinationEnd: WritableEnd;
  readonly #options: PipeOptions;
  readonly #finished = new Deferred<void>();
  readonly #reader: PipeReaderState;
  readonly #writer: PipeWriterState;
  #hasChunk = false;
  #chunk: unknown;
  #isReading = false;
  #isRunning = false;
  #shuttingDown = false;
  #pendingWrites = 0;
  /** Whether the destination takes whole batches of chunks, without a check of each. */
  readonly #movesRuns: boolean;
  /** The action of a shutdown, run once all chunks that were read are written. */
  #afterWrites: (() => void) | undefined = undefined;

  constructor(sourceEnd: ReadableEnd, destinationEnd: WritableEnd, options: PipeOptions) {
    super();
    this.#sourceEnd = sourceEnd;
    this.#destinationEnd = destinationEnd;
    this.#options = options;
    this.#source = sourceEnd.acquire();
    this.#destination = destinationEnd.acquire(this);
    this.#reader = new PipeReaderState(this);
    this.#writer = new PipeWriterState(this);
    readableStreamReaderGenericInitialize(this.#reader, this.#source);
    setUpWritableStreamDefaultWriter(this.#writer, this.#destination);
    disturb(this.#source);
    const { batching, sink, sizeAlgorithm } = this.#destination.controller;
    this.#movesRuns = batching !== undefined && options.counts === undefined && sizeAlgorithm === undefined &&
      this.#source.controller instanceof DefaultControllerState;
    this.#source.controller.source.pipedFrom?.(this);
    sink.pipedTo?.(this);
  }

  /** Settles when the pipe has released both streams. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  start(): void {
    const { signal } = this.#options;
    if (signal) {
      if (signal.aborted) {
        this.#abort();
        return;
      }
      addEventListener.call(signal, "abort", this.#abort);
    }
    const isKnown = !this.#destinationEnd.isNative || isClosingOrClosed(this.#destination);
    // In a microtask, once the native states are known.
    if (this.#sourceEnd.isNative || !isKnown) queueReaction(this.#begin);
    else this.#begin();
  }

  readonly #begin = (): void => {
    if (!this.#shutDownIfNeeded()) this.wake();
  };

  override run(): void {
    this.#isRunning = true;
    if (this.#hasChunk) this.#writeChunk();
    const source = this.#source;
    const { controller } = source;
    const destination = this.#destination;
    let budget = BUDGET;
    // Departures "how far a pipe had come when something failed" and "reading for a destination that is failing". A
    // destination that is closing has backpressure.
    while (!this.#isReading && !destination.backpressure && source.state === "readable") {
      if (destination.state !== "writable" || this.#shuttingDown) break;
      if (budget-- <= 0) {
        countAsMany();
        this.wake();
        break;
      }
      if (this.#movesRuns && this.#moveRun(controller as DefaultControllerState)) {
        budget -= RUN;
      } else if (controller.hasBuffered) {
        this.#write(controller.readBuffered());
      } else {
        this.#isReading = true;
        controller.pullSteps(this);
        if (this.#hasChunk) this.#writeChunk();
      }
    }
    this.#isRunning = false;
    // A chunk that has come since the shutdown began may have opened a batch.
    if (this.#afterWrites) this.#destination.controller.batching?.hurry();
    if (!this.wantsChunks || isClosingOrClosed(destination)) this.#shutDownIfNeeded();
  }

  chunkSteps(chunk: unknown): void {
    this.#chunk = chunk;
    this.#hasChunk = true;
    this.#isReading = false;
    if (!this.#isRunning) this.wake();
  }

  closeSteps(): void {
    this.#isReading = false; // the reader wakes the pipe at the end
  }

  errorSteps(): void {
    this.#isReading = false;
  }

  #writeChunk(): void {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    this.#hasChunk = false;
    this.#write(chunk);
  }

  #write(chunk: unknown): void {
    this.#pendingWrites++;
    writableStreamPipeWrite(this.#destination, chunk, this.#options.counts === undefined ? this : this.#countedWrite());
  }

  /** Counts a chunk that was read; returns the request for its write, unless the native end has one for each write. */
  #countedWrite(): WriteRequest {
    this.#count("chunksRead");
    if (this.#destinationEnd.isNative) return this;
    return { settlesAtOnce: true, resolve: () => this.written(), reject: () => this.resolve() };
  }

  /** Moves many chunks at once, while there is room; returns whether it moved any. */
  #moveRun(controller: DefaultControllerState): boolean {
    const batching = this.#destination.controller.batching!;
    this.#pendingWrites++;
    if (batching.moveForPipe(controller, this)) return true;
    this.resolve();
    return false;
  }

  get wantsChunks(): boolean {
    return !this.#shuttingDown && this.#source.state === "readable" && this.#destination.state === "writable";
  }

  begin(): void {
    this.#pendingWrites++;
  }

  written(): void {
    this.resolve();
    this.#count("chunksWritten");
  }

  #count(name: keyof PipeCounts): void {
    const { counts } = this.#options;
    try {
      if (counts !== undefined) counts[name]++;
    } catch (error) { // a setter threw, or the object was frozen meanwhile
      this.#stop(error);
    }
  }

  resolve(): void {
    if (--this.#pendingWrites > 0 || this.#afterWrites === undefined) return;
    queueReaction(this.#afterWrites);
    this.#afterWrites = undefined;
  }

  reject(): void {
    this.resolve(); // the error of the destination has the reason
  }

  /**
   * Shuts the pipe down if an end requires it: errors before closes, forward before backward, like the standard.
   * Returns whether it does.
   */
  #shutDownIfNeeded(): boolean {
    // Departures "which of two failures in one turn a pipe saw first", "whether a pipe's end or a failure in it came first".
    if (this.#shuttingDown) return true;
    const source = this.#source;
    const destination = this.#destination;
    const { preventAbort, preventCancel, preventClose } = this.#options;
    // Each function is made in the branch that needs it, since every pipe calls this twice.
    if (source.state === "errored") {
      this.#shutDown(preventAbort ? undefined : (error) => writableStreamAbort(destination, error), {
        error: source.storedError,
      });
    } else if (destination.state === "errored") {
      this.#shutDown(preventCancel ? undefined : (error) => readableStreamCancel(source, error), {
        error: destination.storedError,
      });
    } else if (source.state === "closed") {
      const writer = this.#writer;
      this.#shutDown(
        preventClose ? undefined : () => writableStreamDefaultWriterCloseWithErrorPropagation(writer),
        undefined,
      );
    } else if (isClosingOrClosed(destination)) {
      this.#shutDown(preventCancel ? undefined : (error) => readableStreamCancel(source, error), {
        error: endedError("pipe to it", "closed"),
      });
    }
    return this.#shuttingDown;
  }

  readonly #abort = (): void => this.#stop(this.#options.signal!.reason);

  #stop(reason: unknown): void {
    const source = this.#source;
    const destination = this.#destination;
    const { preventAbort, preventCancel } = this.#options;
    this.#shutDown((error) => {
      const actions: Promise<void>[] = [];
      if (!preventAbort && destination.state === "writable") actions.push(writableStreamAbort(destination, error));
      if (!preventCancel && source.state === "readable") actions.push(readableStreamCancel(source, error));
      return waitForAll(actions);
    }, { error: reason });
  }

  /** The standard's "shutdown with an action" and "shutdown". */
  #shutDown(action: ((error: unknown) => Promise<void>) | undefined, failure: Failure | undefined): void {
    if (this.#shuttingDown) return;
    this.#shuttingDown = true;
    this.#destinationEnd.refresh();
    const destination = this.#destination;
    const canWrite = destination.state === "writable" && !isClosingOrClosed(destination);
    const end = (): void => {
      // A native stream that was closing has shown so by refusing a chunk.
      if (canWrite && isClosingOrClosed(destination)) {
        failure ??= { error: endedError("pipe to it", "closed") };
      }
      if (!action) this.#finalize(failure);
      else react(action(failure?.error), () => this.#finalize(failure), (error) => this.#finalize({ error }));
    };
    const closes = failure === undefined && action !== undefined;
    if (!canWrite) {
      end();
    } else if (this.#isReading && this.#sourceEnd.isNative) {
      queueReaction(() => this.#awaitWrites(closes, end)); // the chunk of a served read may not have arrived yet
    } else {
      this.#awaitWrites(closes, end);
    }
  }

  /** Writes the chunks that were read, and ends when all are written. */
  #awaitWrites(closes: boolean, end: () => void): void {
    if (this.#hasChunk) this.#writeChunk();
    this.#destination.controller.batching?.hurry(closes);
    this.begin();
    this.#afterWrites = end;
    this.resolve();
  }

  #finalize(failure: Failure | undefined): void {
    // After an abort, both ends may stay open: a chunk that has arrived since is written first.
    if (this.#destination.state === "writable") {
      const isReading = this.#isReading && this.#sourceEnd.isNative;
      if (isReading) this.#sourceEnd.release(); // the read fails, unless its chunk is about to arrive
      this.#isReading = false;
      if (isReading || this.#hasChunk || this.#pendingWrites > 0) {
        return this.#awaitWrites(false, () => this.#finalize(failure));
      }
    }
    this.#source.controller.source.pipedFrom?.(undefined);
    this.#destination.controller.sink.pipedTo?.(undefined);
    writableStreamDefaultWriterRelease(this.#writer);
    readableStreamReaderRelease(this.#reader);
    this.#destinationEnd.release();
    this.#sourceEnd.release();
    const { signal } = this.#options;
    if (this.#hasChunk) this.#count("chunksRead"); // the chunk was read for a destination that failed
    if (signal) removeEventListener.call(signal, "abort", this.#abort);
    if (!failure) this.#finished.resolve();
    else this.#finished.reject(failure.error);
  }
}
