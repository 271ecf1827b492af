import { Buffer } from "node:buffer";
import process from "node:process";
import { Writable } from "node:stream";
import { continuedBy, type ContinuedRotation, rotationMembers } from "../files/internal.ts";
import { RotatingFileWritable, type RotationOptions } from "../files/mod.ts";
import { requireOption, schema, type SchemaOf, text } from "../streams/internal.ts";
import type { WritableStreamDefaultWriter } from "../streams/mod.ts";

/**
 * Options of {@linkcode openLogDestination}: those of a series of files with `append`.
 *
 * @example A file for each day, of which 30 are kept
 * ```ts
 * import { openLogDestination, type LogDestinationOptions } from "@millrace/streams/pino";
 *
 * const options: LogDestinationOptions = { directory: "logs", maxFileSize: 64_000_000, interval: "day", maxFiles: 30 };
 * const destination = await openLogDestination(options);
 * destination.end("started\n");
 * ```
 */
export type LogDestinationOptions = Omit<RotationOptions, "append" | "overwrite" | "atomic" | "name"> & {
  /**
   * The base of the files' names: `"app.log"` gives `app-00001.log`, `app-00002.log`, …
   *
   * @default "part.txt"
   */
  name?: string;
};

export const logDestinationOptions: SchemaOf<
  LogDestinationOptions,
  "name" | "maxFiles" | "maxTotalSize" | "maxAge"
> = /* @__PURE__ */ schema("openLogDestination()", () => {
  const name = "part.txt";
  const { append: _append, overwrite: _overwrite, atomic: _atomic, ...members } = rotationMembers(name);
  return { ...members, name: text(name) };
});

/** The maximum bytes that wait while a write is retried: further lines are dropped. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
const DROPPED = "a line was dropped, as 16 MiB wait already for space on the disk, or for a free descriptor";

type Done = (error?: Error | null) => void;

const LINE_FEED = 10;
const NOTHING: Buffer = Buffer.alloc(0);

/** Splits text of any chunks after its lines, so that each file of a series begins with a line. */
class WholeLines {
  readonly #longest: number;
  /** The memory for the beginning of an unfinished line, and its bytes. */
  #memory: Buffer = NOTHING;
  #length = 0;

  /** @param longest The maximum bytes of an unfinished line that are kept. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Adds text; calls `emit` with pieces of whole lines. */
  add(text: string | Uint8Array, emit: (piece: string | Uint8Array) => void): void {
    if (typeof text === "string" && this.#length === 0 && text.endsWith("\n")) return emit(text);
    let bytes: Buffer = Buffer.from(text as string); // a copy, since the caller may reuse its bytes
    if (this.#length > 0) {
      const feed = bytes.indexOf(LINE_FEED) + 1;
      this.#keep(bytes.subarray(0, feed || bytes.length));
      bytes = bytes.subarray(feed || bytes.length);
      if (feed > 0) this.end(emit);
    }
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) emit(bytes.subarray(0, end));
    this.#keep(bytes.subarray(end));
    if (this.#length >= this.#longest) this.end(emit);
  }

  /** Emits the beginning of an unfinished line. */
  end(emit: (piece: Uint8Array) => void): void {
    if (this.#length > 0) emit(this.#memory.subarray(0, this.#length));
    this.#memory = NOTHING;
    this.#length = 0;
  }

  /** Keeps bytes of an unfinished line. The memory doubles when it is full, so that a long line of small pieces is copied only twice. */
  #keep(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#memory.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#memory.length));
      this.#memory.copy(larger, 0, 0, this.#length);
      this.#memory = larger;
    }
    bytes.copy(this.#memory, this.#length);
    this.#length = length;
  }
}

/**
 * A series of log files as a `Writable` of `node:stream`, opened by {@linkcode openLogDestination}. Files begin and end
 * with whole lines. All lines are on the disk when the process ends, unless it is killed.
 *
 * @example The lines of a console
 * ```ts
 * import { openLogDestination, type LogDestination } from "@millrace/streams/pino";
 * import { Console } from "node:console";
 *
 * const log: LogDestination = await openLogDestination({ directory: "logs", name: "con.log", maxFileSize: 1_000_000 });
 * new Console(log).warn("%d left", 3);
 * log.end();
 * ```
 */
export class LogDestination extends Writable {
  readonly #log: RotatingFileWritable;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array | string>;
  readonly #lines: WholeLines;
  readonly #series: ContinuedRotation;
  /** The pending flushes and rotations. */
  readonly #requests: Set<(error: unknown) => void> = new Set();
  #dropped = 0;
  /** Whether all lines were in the file when the stream was destroyed. */
  #isFlushed = false;
  /** Whether the rest of the unfinished line is dropped. */
  #isCut = false;
  /** The rejection for the last piece that was dropped wholly or in part. */
  #lastDrop: Promise<never> | undefined = undefined;
  /** The last piece of text that was written. */
  #last: string | Uint8Array = "\n";
  /** The promise of the last write. */
  #batch: Promise<void> | undefined = undefined;
  /** Whether a `write()` has returned false, so that `drain` must follow. */
  #needsDrain = false;

  /** Creates a destination; {@linkcode openLogDestination} also waits until it is writable. */
  constructor(options: LogDestinationOptions) {
    const settings = logDestinationOptions(options);
    const directory = requireOption(logDestinationOptions, settings, "directory");
    const maxFileSize = requireOption(logDestinationOptions, settings, "maxFileSize");
    super({ decodeStrings: false });
    this.#log = new RotatingFileWritable({ ...settings, directory, maxFileSize, append: true });
    this.#writer = this.#log.getWriter();
    this.#lines = new WholeLines(this.#log.maxFileSize);
    this.#series = continuedBy(this.#log);
    this.#series.isPatient = true;
    this.#series.onFailure = (error) => this.#requests.forEach((reject) => reject(error));
    this.#writer.closed.catch((error) => this.destroy(error));
    flushOnExit(this);
  }

  /** The paths of the complete files, in order. */
  get files(): readonly string[] {
    return this.#log.files;
  }

  /** The number of lines dropped because 16 MiB waited for space on the disk, or for a free descriptor. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Waits until all lines written so far are on the disk, except an unfinished line.
   *
   * @param callback Called at the end, or with the error; without it, the promise rejects. The write may still be
   * retried afterwards.
   */
  flush(callback: ((error?: Error | null) => void) | undefined = undefined): Promise<void> {
    const flushed = this.#request("flush");
    return callback ? flushed.then(() => callback(), callback) : flushed;
  }

  /**
   * Writes everything so far to the disk before it returns, including an unfinished line. At the end of the process,
   * this is done for each destination.
   *
   * @throws {Error} with the reason why the file cannot be written, and the system's `code`.
   */
  flushSync(): void {
    this.#lines.end(this.#emit);
    this.#log.flushSync();
  }

  /**
   * Ends the current file after all lines written so far; the next line begins another one. Rejects as {@linkcode
   * LogDestination.flush} does.
   */
  rotate(): Promise<void> {
    return this.#request("rotate");
  }

  #request(command: "flush" | "rotate"): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { failure } = this.#series;
    if (failure !== undefined) reject(failure);
    this.#requests.add(reject);
    this.#log[command]().then(resolve, reject).finally(() => this.#requests.delete(reject));
    return promise;
  }

  /**
   * Writes a chunk, like the `write()` of any Writable. While the process ends, the chunk is on the disk when this
   * returns.
   *
   * @param done Called when the chunk's whole lines are in the file, or with the reason why some are not.
   * @returns false if the caller should wait for `drain`.
   */
  override write(
    chunk: unknown,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    done?: (error?: Error | null) => void,
  ): boolean {
    const callback = typeof encoding === "function" ? encoding : done;
    const drop = this.#lastDrop;
    let isTaken = !this.destroyed && !this.writableEnded;
    let written: Promise<void> | undefined = undefined;
    const failed = (error: Error): void => callback!(isTaken && this.#isFlushed ? null : error);
    const told: Done = (error) => { // in a later tick
      if (error) failed(error);
      else if (written === undefined) callback!(null);
      else written.then(() => callback!(null), failed);
    };
    super.write(chunk, typeof encoding === "string" ? encoding : undefined as never, callback && told);
    const isWhole = this.#lastDrop === drop;
    isTaken &&= isWhole;
    written = isWhole ? this.#batch : this.#lastDrop;
    if (isExiting) flushNow(this);
    if (this.#writer.desiredSize! > 0) return true;
    if (!this.#needsDrain) this.#awaitRoom();
    return false;
  }

  /** Does nothing: the series batches lines, and a Writable drops corked chunks when it is destroyed. */
  override cork(): void {}

  /** Does nothing. */
  override uncork(): void {}

  /** @ignore */
  override _write(chunk: string | Uint8Array, encoding: BufferEncoding, done: Done): void {
    this.#lines.add(decoded(chunk, encoding), this.#emit);
    done(); // called at once: only the series queues, and `write()` reports its backpressure
  }

  /** @ignore */
  override _final(done: Done): void {
    this.#endLine();
    this.#series.isPatient = false;
    this.#writer.close().then(() => done(), done);
  }

  /** @ignore */
  override _destroy(error: Error | null, done: Done): void {
    open.delete(this);
    if (this.writableFinished) return done(error);
    let reason = error;
    try {
      this.#endLine();
      this.flushSync();
      this.#isFlushed = true;
    } catch (failure) {
      // Otherwise it has failed already, or no bytes are left to write.
      if (this.#series.failure !== undefined) reason ??= failure as Error;
    }
    const end = (): void => done(reason);
    const gone = Object.assign(new Error("the log destination was destroyed"), { code: "ERR_STREAM_DESTROYED" });
    this.#writer.abort(reason ?? gone).then(end, end);
  }

  readonly #emit = (piece: string | Uint8Array): void => {
    if (this.#isCut || this.#isFull) return this.#drop(piece);
    this.#put(piece);
  };

  #put(piece: string | Uint8Array): void {
    this.#last = piece;
    const written = this.#writer.write(piece);
    if (written === this.#batch) return; // all writes of a batch return the same promise
    this.#batch = written;
    written.catch(() => {}); // reported by `closed`
  }

  get #isFull(): boolean {
    // A line that has begun is better completed.
    const most = endsLine(this.#last) ? MAX_QUEUED_BYTES : 2 * MAX_QUEUED_BYTES;
    return this.#series.failure !== undefined && this.#writer.desiredSize! < -most;
  }

  /** Drops whole lines: those without room, and the rest of a line whose beginning was dropped. */
  #drop(piece: string | Uint8Array): void {
    this.#lastDrop = Promise.reject(new Error(DROPPED, { cause: this.#series.failure }));
    this.#lastDrop.catch(() => {}); // reported by the callback of a write
    const feed = typeof piece === "string" ? piece.indexOf("\n") : piece.indexOf(LINE_FEED);
    const dropped = this.#isFull || feed === -1 ? piece : piece.slice(0, feed + 1);
    this.#dropped += linesOf(dropped);
    if (!endsLine(this.#last)) this.#put("\n");
    this.#isCut = !endsLine(dropped);
    if (dropped.length < piece.length) this.#emit(piece.slice(feed + 1));
  }

  static {
    const get = function (this: LogDestination): boolean {
      return this.#needsDrain;
    };
    Object.defineProperty(this.prototype, "writableNeedDrain", { configurable: true, get });
  }

  #awaitRoom(): void {
    this.#needsDrain = true;
    const drain = (): void => {
      this.#needsDrain = false;
      if (!this.destroyed) this.emit("drain");
    };
    this.#writer.ready.then(drain, drain);
  }

  /** Ends an unfinished line, since the next stream continues the file. */
  #endLine(): void {
    this.#lines.end(this.#emit);
    if (!endsLine(this.#last)) this.#emit("\n");
  }
}

function endsLine(piece: string | Uint8Array): boolean {
  return [LINE_FEED, "\n"].includes(piece.at(-1)!);
}

/** Returns UTF-8 text unchanged, and text of another encoding as bytes. */
function decoded(chunk: string | Uint8Array, encoding: BufferEncoding): string | Uint8Array {
  return typeof chunk !== "string" || /^utf-?8$/i.test(encoding) ? chunk : Buffer.from(chunk, encoding);
}

/** Returns the number of line feeds. */
function linesOf(piece: string | Uint8Array): number {
  return Buffer.from(piece as string).filter((byte) => byte === LINE_FEED).length;
}

const open: Set<LogDestination> = new Set();
/** Whether the listeners of `exit` are running: later listeners may also write. */
let isExiting = false;

function flushOnExit(destination: LogDestination): void {
  open.add(destination);
  if (!process.listeners("exit").includes(flushAll)) process.on("exit", flushAll);
}

function flushAll(): void {
  isExiting = true;
  for (const destination of open) flushNow(destination);
}

function flushNow(destination: LogDestination): void {
  try {
    destination.flushSync();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`); // an event would come too late
  }
}

/** The options that pino and its threads add to those of a target. */
const added = ["$context", "pinoWillSendConfig", "levels", "dedupe"];

/**
 * Opens a series of log files as a `Writable` of `node:stream`, for loggers; pino calls it in a separate thread for
 * `target: "@millrace/streams/pino"`.
 *
 * The options are those of a `RotatingFileWritable` with `append: true`. Chunks may be cut anywhere: files begin and
 * end with whole lines, except for a line longer than `maxFileSize`.
 *
 * @throws {TypeError} if an option is of the wrong type.
 * @throws {RangeError} if a size, a count or a time is out of range.
 * @throws {Error} with the reason why the series cannot be written, and the system's `code`; `EBUSY` if another stream
 * writes it.
 * @example A logger in this thread
 * ```ts
 * import { openLogDestination } from "@millrace/streams/pino";
 * import pino from "pino";
 *
 * const destination = await openLogDestination({ directory: "logs", name: "app.log", maxFileSize: 64_000_000 });
 * const logger = pino(destination);
 * logger.info("started");
 * destination.end();
 * ```
 */
export async function openLogDestination(options: LogDestinationOptions): Promise<LogDestination> {
  // A copy would lose members that are accessors or inherited.
  const own = Object.create(options, Object.fromEntries(added.map((name) => [name, { value: undefined }])));
  const destination = new LogDestination(own as LogDestinationOptions);
  const ignore = (): void => {};
  destination.on("error", ignore); // the promise reports the error
  await destination.flush().catch((error) => { // otherwise the series exists
    destination.destroy();
    throw error;
  });
  destination.off("error", ignore);
  return destination;
}
