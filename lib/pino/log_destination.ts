import { Buffer } from "node:buffer";
import process from "node:process";
import { Writable } from "node:stream";
import { attemptsOf, rotationMembers, type SeriesAttempts } from "../files/internal.ts";
import { RotatingFileWritable, type RotationOptions } from "../files/mod.ts";
import { requireOption, schema, type SchemaOf, text } from "../streams/internal.ts";
import type { WritableStreamDefaultWriter } from "../streams/mod.ts";

/**
 * Options of {@linkcode openLogDestination}: those of a series of files that goes on.
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
   * The name that the names of the files are made of: `"app.log"` gives `app-00001.log`, `app-00002.log`, …
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

/** The most bytes that wait while a write is retried: further lines are dropped. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;
const DROPPED = "a line was dropped, as 16 MiB wait already for space on the disk, or for a free descriptor";

type Done = (error?: Error | null) => void;

const LINE_FEED = 10;
const NOTHING: Buffer = Buffer.alloc(0);

/** Cuts text that comes in any pieces behind its lines, so that files of a series begin with a line. */
class WholeLines {
  readonly #longest: number;
  /** Memory for the beginning of a line whose end has not come, and its bytes. */
  #memory: Buffer = NOTHING;
  #length = 0;

  /** @param longest Most bytes of a line that are kept for its end. */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Takes text; calls `emit` with whole lines, some in a piece. */
  add(text: string | Uint8Array, emit: (piece: string | Uint8Array) => void): void {
    if (typeof text === "string" && this.#length === 0 && text.endsWith("\n")) return emit(text);
    let bytes: Buffer = Buffer.from(text as string); // a copy: the caller may use its bytes again
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

  /** Gives the beginning of a line that has not ended. */
  end(emit: (piece: Uint8Array) => void): void {
    if (this.#length > 0) emit(this.#memory.subarray(0, this.#length));
    this.#memory = NOTHING;
    this.#length = 0;
  }

  /** Keeps bytes of a line. The memory doubles when it is full: a long line that comes in small pieces is copied twice. */
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
 * A series of log files as a `Writable` of `node:stream`, made by {@linkcode openLogDestination}. Files begin and end
 * with whole lines. What was written is on the disk when the process has ended, unless that was killed.
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
  readonly #attempts: SeriesAttempts;
  /** The flushes and rotations that wait. */
  readonly #requests: Set<(error: unknown) => void> = new Set();
  #dropped = 0;
  /** Whether all lines were in the file when it was destroyed. */
  #isFlushed = false;
  /** Whether the line that goes on is dropped. */
  #isCut = false;
  /** The rejection for the last piece of which something was dropped. */
  #lastDrop: Promise<never> | undefined = undefined;
  /** The last piece of text that was written. */
  #last: string | Uint8Array = "\n";
  /** The promise of the last write. */
  #batch: Promise<void> | undefined = undefined;
  /** Whether a `write()` has returned false, and `drain` is still to come. */
  #needsDrain = false;

  /** Makes a destination; {@linkcode openLogDestination} waits until it can be written. */
  constructor(options: LogDestinationOptions) {
    const settings = logDestinationOptions(options);
    const directory = requireOption(logDestinationOptions, settings, "directory");
    const maxFileSize = requireOption(logDestinationOptions, settings, "maxFileSize");
    super({ decodeStrings: false });
    this.#log = new RotatingFileWritable({ ...settings, directory, maxFileSize, append: true });
    this.#writer = this.#log.getWriter();
    this.#lines = new WholeLines(this.#log.maxFileSize);
    this.#attempts = attemptsOf(this.#log);
    this.#attempts.isPatient = true;
    this.#attempts.onFailure = (error) => this.#requests.forEach((reject) => reject(error));
    this.#writer.closed.catch((error) => this.destroy(error));
    flushOnExit(this);
  }

  /** The paths of the files that are complete, in order. */
  get files(): readonly string[] {
    return this.#log.files;
  }

  /** The number of lines dropped because 16 MiB waited for space on the disk, or for a free descriptor. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Waits until everything that was written so far is on the disk, but for the beginning of a line that has not ended.
   *
   * @param callback Called then, or with what failed; without one, the promise is rejected. What failed may be tried
   * again after that.
   */
  flush(callback: ((error?: Error | null) => void) | undefined = undefined): Promise<void> {
    const flushed = this.#request("flush");
    return callback ? flushed.then(() => callback(), callback) : flushed;
  }

  /**
   * Writes everything that was written so far to the disk before it returns, the beginning of a line that has not ended
   * among it. A process that ends does so for each destination.
   *
   * @throws {Error} why it cannot be written, with the system's `code`.
   */
  flushSync(): void {
    this.#lines.end(this.#emit);
    this.#log.flushSync();
  }

  /**
   * Ends the file that is being written, behind everything that was written so far; the next line begins another one.
   * Rejects as {@linkcode LogDestination.flush} does.
   */
  rotate(): Promise<void> {
    return this.#request("rotate");
  }

  #request(command: "flush" | "rotate"): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { failure } = this.#attempts;
    if (failure !== undefined) reject(failure);
    this.#requests.add(reject);
    this.#log[command]().then(resolve, reject).finally(() => this.#requests.delete(reject));
    return promise;
  }

  /**
   * Writes a chunk, as the `write()` of any Writable; while the process ends, to the disk before it returns.
   *
   * @param done Called when the chunk's whole lines are in the file, or with the reason why some are not.
   * @returns false if more had better wait for `drain`.
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

  /** Does nothing: the series gathers lines, and a Writable drops what it holds when it is destroyed. */
  override cork(): void {}

  /** Does nothing. */
  override uncork(): void {}

  /** @ignore */
  override _write(chunk: string | Uint8Array, encoding: BufferEncoding, done: Done): void {
    this.#lines.add(decoded(chunk, encoding), this.#emit);
    done(); // at once: the queue of the series is the only one, and `write()` tells how full it is
  }

  /** @ignore */
  override _final(done: Done): void {
    this.#endLine();
    this.#attempts.isPatient = false;
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
      // Else it has failed already, or there is nothing to be written.
      if (this.#attempts.failure !== undefined) reason ??= failure as Error;
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
    written.catch(() => {}); // told by `closed`
  }

  get #isFull(): boolean {
    const most = endsLine(this.#last) ? MAX_QUEUED_BYTES : 2 * MAX_QUEUED_BYTES; // a line that has begun is better whole
    return this.#attempts.failure !== undefined && this.#writer.desiredSize! < -most;
  }

  /** Drops whole lines: those for which there is no room, and the rest of one of which a part was dropped. */
  #drop(piece: string | Uint8Array): void {
    this.#lastDrop = Promise.reject(new Error(DROPPED, { cause: this.#attempts.failure }));
    this.#lastDrop.catch(() => {}); // told by the callback of a write
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

  /** Ends a line that has begun: the next stream goes on in the file. */
  #endLine(): void {
    this.#lines.end(this.#emit);
    if (!endsLine(this.#last)) this.#emit("\n");
  }
}

function endsLine(piece: string | Uint8Array): boolean {
  return [LINE_FEED, "\n"].includes(piece.at(-1)!);
}

/** Text as it is, and the bytes that text of another encoding than UTF-8 stands for. */
function decoded(chunk: string | Uint8Array, encoding: BufferEncoding): string | Uint8Array {
  return typeof chunk !== "string" || /^utf-?8$/i.test(encoding) ? chunk : Buffer.from(chunk, encoding);
}

/** The number of line feeds. */
function linesOf(piece: string | Uint8Array): number {
  return Buffer.from(piece as string).filter((byte) => byte === LINE_FEED).length;
}

const open: Set<LogDestination> = new Set();
/** Whether the listeners of `exit` run: later ones may write, too. */
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

/** Options that pino and its threads add to those of a target. */
const added = ["$context", "pinoWillSendConfig", "levels", "dedupe"];

/**
 * Opens a series of log files as a `Writable` of `node:stream`, for loggers; pino calls it in a thread of its own for
 * `target: "@millrace/streams/pino"`.
 *
 * The options are those of a `RotatingFileWritable` with `append: true`. Text may come in any pieces: files begin and end
 * with whole lines, but for a line longer than `maxFileSize`.
 *
 * @throws {TypeError} if an option is of the wrong type.
 * @throws {RangeError} if a size, a count or a time is none.
 * @throws {Error} why the series cannot be written, with the system's `code`; `EBUSY` if another stream writes it.
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
  // Not a copy, which would lose members that are accessors or inherited.
  const own = Object.create(options, Object.fromEntries(added.map((name) => [name, { value: undefined }])));
  const destination = new LogDestination(own as LogDestinationOptions);
  const ignore = (): void => {};
  destination.on("error", ignore); // the promise tells it
  await destination.flush().catch((error) => { // else the series is there
    destination.destroy();
    throw error;
  });
  destination.off("error", ignore);
  return destination;
}
