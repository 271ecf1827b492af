import { closeEndedSide } from "#streams/lazy_side";
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
  writableStreamAbort,
  writableStreamCloseQueuedOrInFlight,
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

/** The reader of a pipe, whose promises user code cannot observe: a change of the stream's state wakes the pipe. */
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
  override released(): void {} // an unobservable error would cost 4 µs for its stack
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

/** The error that a pipe is rejected with. */
interface Failure {
  readonly error: unknown;
}

const { addEventListener, removeEventListener } = EventTarget.prototype;

/** The number of chunks after which a pipe yields to other pipes, and the weight of a whole run in that count. */
const BUDGET = 128;
const RUN = 16;

/**
 * A pipe: a task that moves chunks while the destination has room, and waits for the streams to wake it. It is its own
 * read request, as it reads one chunk at a time, and the write request of all its writes, as it only counts them.
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
  /** Whether the destination takes batches of chunks that need not be checked one by one. */
  readonly #movesRuns: boolean;
  /** The action of a shutdown, run when all chunks read have been written. */
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
    if (this.#sourceEnd.isNative || this.#destinationEnd.isNative) queueReaction(this.#begin); // till states are known
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
    // Departures "how far a pipe had come when something failed" and "reading for a destination that is failing". This
    // pipe has locked the destination, so it cannot be closing.
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
    if (source.state !== "readable" || destination.state !== "writable") this.#shutDownIfNeeded();
  }

  chunkSteps(chunk: unknown): void {
    this.#chunk = chunk;
    this.#hasChunk = true;
    this.#isReading = false;
    if (!this.#isRunning) this.wake();
  }

  closeSteps(): void {
    this.#isReading = false; // the reader wakes the pipe
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

  /** Counts a chunk that was read; returns the request of its write, unless the native end has one for each write. */
  #countedWrite(): WriteRequest {
    this.#count("chunksRead");
    if (this.#destinationEnd.isNative) return this;
    return { settlesAtOnce: true, resolve: () => this.written(), reject: () => this.reject() };
  }

  /** Moves many chunks in one go, as far as there is room; returns whether it moved any. */
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
    } catch (error) { // of a setter, or the object was frozen meanwhile
      this.#stop(error);
    }
  }

  resolve(): void {
    if (--this.#pendingWrites > 0 || this.#afterWrites === undefined) return;
    queueReaction(this.#afterWrites);
    this.#afterWrites = undefined;
  }

  reject(): void {
    this.resolve(); // the destination's error tells what happened
  }

  /** Shuts down for errors before closes, forward before backward, like the standard; returns whether it does. */
  #shutDownIfNeeded(): boolean {
    // Departures "which of two failures in one turn a pipe saw first", "whether a pipe's end or a failure in it came first".
    if (this.#shuttingDown) return true;
    const source = this.#source;
    const destination = this.#destination;
    const { preventAbort, preventCancel, preventClose } = this.#options;
    // The functions are made in the branches that need them, since every pipe calls this twice.
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
    } else if (destination.state === "closed" || writableStreamCloseQueuedOrInFlight(destination)) {
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
    const end = (): void => {
      if (!action) this.#finalize(failure);
      else react(action(failure?.error), () => this.#finalize(failure), (error) => this.#finalize({ error }));
    };
    const closes = failure === undefined && action !== undefined;
    if (this.#destination.state !== "writable" || writableStreamCloseQueuedOrInFlight(this.#destination)) {
      end();
    } else if (this.#isReading && this.#sourceEnd.isNative) {
      queueReaction(() => this.#awaitWrites(closes, end)); // the chunk of a read that is served may be on its way
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
    if (this.#destination.state === "writable") { // a signal may leave both open: a chunk that came since is written first
      const isReading = this.#isReading && this.#sourceEnd.isNative;
      if (isReading) this.#sourceEnd.release(); // the read fails, unless its chunk is on its way
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
    closeEndedSide(this.#destination);
    this.#sourceEnd.release();
    const { signal } = this.#options;
    if (this.#hasChunk) this.#count("chunksRead"); // it was read for a destination that failed
    if (signal) removeEventListener.call(signal, "abort", this.#abort);
    if (!failure) this.#finished.resolve();
    else this.#finished.reject(failure.error);
  }
}
