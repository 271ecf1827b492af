import { Buffer } from "node:buffer";
import { constants } from "node:fs";
import type { AtomicFileOptions } from "./atomic_file.ts";
import { sleep } from "../timers/mod.ts";
import { failing, failingNow } from "./failure.ts";
import { FileName, LeftFiles } from "./flush.ts";
import type { ImmediateTarget } from "./item_writer.ts";
import { blockFor, linkFlag, MAX_BLOCKING_TIME, OpenFile } from "./open_file.ts";
import type { FileTarget } from "./output_file.ts";
import { behind, MAX_WRITE_SIZE, type Taker, writeFully } from "./write_fully.ts";

/** The maximum time in ms between two checks whether a full pipe has room. */
const MAX_PAUSE = 20;
/** The maximum number of bytes that are compared with the content of a file. */
const COMPARED = 65_536;

/**
 * A write of pieces to the end of a file, which can be completed without a turn of the event loop. If the file shows
 * when a call has ended, calls run in other threads of the process; otherwise they are synchronous.
 */
export class PendingWrite implements Taker {
  readonly #file: OpenFile;
  readonly #pieces: readonly Uint8Array[];
  /** The bytes of finished calls, and of the current one. */
  #written = 0;
  #length = 0;
  /** The file's size and position at the start of the current call. */
  #size = 0;
  #place = 0;
  /** Whether the rest was written synchronously. */
  #isFinished = false;
  #failure: { readonly reason: unknown } | undefined = undefined;

  constructor(file: OpenFile, pieces: readonly Uint8Array[]) {
    this.#file = file;
    this.#pieces = pieces;
  }

  write(piece: Uint8Array, start: number, length: number): Promise<number> {
    if (this.#tellsEnd()) return this.#call(length, () => this.#file.write(piece, start, length));
    return this.#callNow([piece.subarray(start, start + Math.min(length, this.#file.mostAtOnce))], length);
  }

  writev(pieces: readonly Uint8Array[]): Promise<number> {
    let length = 0;
    for (const piece of pieces) length += piece.length;
    if (this.#tellsEnd()) return this.#call(length, () => this.#file.writev(pieces));
    return length > this.#file.mostAtOnce ? this.#writeJoined(pieces) : this.#callNow(pieces, length);
  }

  async #writeJoined(pieces: readonly Uint8Array[]): Promise<number> {
    const joined = Buffer.concat(pieces);
    for (let start = 0; start < joined.length;) start += await this.write(joined, start, joined.length - start);
    return joined.length;
  }

  /** Whether the end of the next call will be detectable: the position moves, unless the file was truncated. */
  #tellsEnd(): boolean {
    if (this.#isFinished || !this.#file.tellsEnds) return this.#isFinished;
    this.#size = this.#file.size();
    this.#place = this.#file.position() ?? 0;
    return this.#place <= this.#size;
  }

  /** Waits for the current call, for at most two seconds, and writes the rest synchronously. */
  finishNow(): void {
    if (this.#length > 0) this.#written += this.#awaitCall();
    this.#length = 0;
    this.#isFinished = true;
    this.#failure = undefined; // another attempt continues where one has failed
    try {
      for (const piece of behind(this.#pieces, this.#written)) {
        this.#file.writeNow(piece, (length) => this.#written += length);
      }
    } catch (error) {
      this.#failure = { reason: error };
      throw error;
    }
  }

  async #call(length: number, start: () => Promise<number>): Promise<number> {
    if (!this.#isFinished) {
      this.#length = length;
      const written = await start().catch((error) => {
        if (!this.#isFinished) throw error;
        return 0; // flushSync() has written what is left
      });
      if (!this.#isFinished) {
        this.#written += written;
        this.#length = 0;
        return written;
      }
    }
    if (this.#failure !== undefined) throw this.#failure.reason;
    return length;
  }

  /** Writes synchronously as much as the file takes; a full pipe is retried until its reader has made room. */
  async #callNow(pieces: readonly Uint8Array[], length: number): Promise<number> {
    for (let ms = 0; !this.#isFinished; ms = Math.min(ms + 1, MAX_PAUSE)) {
      const written = this.#file.writevNow(pieces);
      this.#written += written;
      if (written === MAX_WRITE_SIZE) await new Promise((resolve) => setImmediate(resolve));
      if (written > 0) return written;
      await sleep(ms);
    }
    return await this.#call(length, () => Promise.resolve(0));
  }

  /** Waits for the current call; returns the number of bytes it took. The position is then behind them. */
  #awaitCall(): number {
    if (!this.#file.status().isFile()) return this.#length;
    for (const end = performance.now() + MAX_BLOCKING_TIME;;) {
      const place = this.#file.position()!;
      if (place !== this.#place) return this.#takenUntil(place);
      if (performance.now() > end) throw new Error(`a write has not ended within ${MAX_BLOCKING_TIME} ms`);
      if (this.#file.isDiskFull()) {
        throw Object.assign(new Error("no space is left on the device"), { code: "ENOSPC" });
      }
      blockFor(1);
    }
  }

  /**
   * Returns the number of bytes that the call took: a full disk takes a part. The file has grown by that number, unless
   * others have appended or truncated between reading its size and the call. Then the bytes before `place` show the
   * number, unless they repeat themselves.
   */
  #takenUntil(place: number): number {
    const own = (length: number): Buffer => Buffer.concat(behind(this.#pieces, this.#written), length);
    const grown = place - this.#size;
    if (grown === this.#length) {
      const beginning = this.#readBack(this.#size, Math.min(grown, COMPARED));
      if (beginning === undefined || beginning.equals(own(beginning.length))) return grown;
    }
    const most = Math.min(this.#length, place);
    const end = this.#readBack(place - most, most);
    const counts = end === undefined ? [] : overlaps(own(most), end);
    const [taken = 0, fewer = 0] = counts.slice(Math.max(0, counts.indexOf(grown)));
    if (fewer < taken / 2) return taken;
    throw new Error("others may have changed it during a write, and how much of that it has cannot be known");
  }

  /** Returns bytes of the file, if all of them exist and may be read. */
  #readBack(position: number, length: number): Buffer | undefined {
    const found = Buffer.alloc(length);
    try {
      const file = OpenFile.openNow(this.#file.ownPath, "r", { atOnce: true });
      try {
        return file.readBack(found, position) === length ? found : undefined;
      } finally {
        void file.close();
      }
    } catch {
      return undefined;
    }
  }
}

/** Returns the lengths for which the start of `own` equals the end of `end`, which is as long; the largest first. */
function overlaps(own: Uint8Array, end: Uint8Array): number[] {
  const next = new Int32Array(own.length + 1).fill(-1, 0, 1); // the algorithm of Knuth, Morris and Pratt
  for (let i = 0, k = -1; i < own.length; next[++i] = ++k) while (k >= 0 && own[k] !== own[i]) k = next[k];
  let count = 0;
  for (let i = 0; i < end.length; i++, count++) while (count >= 0 && own[count] !== end[i]) count = next[count];
  const counts: number[] = [];
  for (; count > 0; count = next[count]) counts.push(count);
  return counts;
}

export type AppendedFileOptions = Pick<AtomicFileOptions, "followLinks" | "mode" | "flush" | "mtimeMs" | "atOnce">;

/** A file that is appended to, which other processes may do at the same time. */
export class AppendedFile implements FileTarget, ImmediateTarget {
  readonly maxFileSize: number = Infinity;
  readonly cutsLines = false;
  readonly room: number = Infinity;
  readonly takesBack = false; // others may have appended since the failure
  readonly path: string;
  readonly #options: AppendedFileOptions;
  #file: OpenFile;
  #name: FileName;
  #underWay: PendingWrite | undefined = undefined;
  /** The files that other programs have renamed. */
  readonly #left = new LeftFiles();

  private constructor(path: string, options: AppendedFileOptions, file: OpenFile) {
    this.path = path;
    this.#options = options;
    this.#file = file;
    this.#name = new FileName(path);
  }

  /** @throws {Error} with the file's name, the reason why it cannot be opened, and the system's `code`. */
  static async open(path: string, options: AppendedFileOptions): Promise<AppendedFile> {
    const opening = OpenFile.open(path, flagsOf(options), options).then((file) => file.withoutWaits(path));
    return new AppendedFile(path, options, await opening.catch(failing("open", path)));
  }

  async write(pieces: readonly Uint8Array[], length: number): Promise<void> {
    if (length === 0) return;
    this.#underWay = new PendingWrite(this.#file, pieces);
    await writeFully(this.#underWay, pieces).catch(failing("write", this.path)).finally(() => {
      this.#underWay = undefined;
    });
  }

  async rotate(): Promise<void> {} // there is only one file

  rotateNow(): void {} // like rotate()

  async flush(): Promise<void> {
    await this.#left.flush(async () => {
      await this.#file.datasync().catch(failing("flush", this.path));
      await this.#name.flush();
    });
  }

  reopen(): void {
    const old = this.#file;
    const { path } = this;
    const options = this.#options;
    this.#file = failingNow("open", path, () => OpenFile.openWithoutWaits(path, flagsOf(options), options));
    this.#name = new FileName(this.path);
    this.#left.flushAndClose(old, this.path);
  }

  settleNow(): void {
    failingNow("flush", this.path, () => this.#underWay?.finishNow());
    this.#underWay = undefined;
  }

  writeNow(pieces: readonly Uint8Array[]): void {
    for (const piece of pieces) failingNow("write", this.path, () => this.#file.writeNow(piece));
  }

  flushNow(): void {
    if (this.#file.isClosed) return;
    this.#left.flushNow(() => {
      failingNow("flush", this.path, () => this.#file.datasyncNow());
      this.#name.flushNow();
    });
  }

  async commit(): Promise<void> {
    const { flush, mtimeMs } = this.#options;
    if (mtimeMs !== undefined) await this.#file.setModified(mtimeMs);
    if (flush) await this.flush();
    await this.#file.close();
    await this.#left.flush();
  }

  async discard(): Promise<void> {
    await this.#file.close().catch(() => {}); // the reason of the discard is already being thrown
    await this.#left.flush().catch(() => {});
  }
}

function flagsOf({ followLinks }: AppendedFileOptions): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  return O_APPEND | O_CREAT | O_WRONLY | linkFlag(followLinks);
}
