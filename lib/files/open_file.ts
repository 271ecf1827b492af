import * as fs from "node:fs";
import { stat } from "node:fs/promises";
import process from "node:process";
import { isPermitted, passingRefusals, roundsFileNumbers, writeStream } from "../runtime/mod.ts";
import { codeOf } from "./failure.ts";
import {
  block,
  IN_USE,
  LEASED,
  UNSHARED,
  whileLocked,
  whileRefused,
  whileRefusedNow,
  whileUnshared,
} from "./rename.ts";
import { behind, MAX_CALL_SIZE, requirePieces } from "./write_fully.ts";

/** The codes with which systems refuse to flush a pipe or a device; the last two are those of Windows. */
const withoutDisk: readonly unknown[] = ["EINVAL", "EISDIR", "EPERM"];

/** The maximum time in ms that blocks the thread. */
const MAX_BLOCKING_TIME = 2000;
/** Returns the number of bytes that a pipe takes completely; outside Linux, POSIX's minimum. Deno does not report a partial write. */
const pipeSize = (): number => process.platform === "linux" ? 4096 : 512;

export interface OpenFileOptions {
  /** The permission bits of a new file, reduced by the process's umask. */
  readonly mode?: number | undefined;
  /** Whether calls are synchronous, except those that wait for the disk. */
  readonly atOnce?: boolean | undefined;
  /** The maximum time in ms for which a locked file blocks the thread. Default: 2000. */
  readonly maxWait?: number | undefined;
}

/** The parts of a status that identify a file while it exists. */
export type Identity = Pick<fs.BigIntStats, "dev" | "ino">;

/** Whether an inode number identifies a file: some disks have none, and large ones may be rounded. */
export function isSureNumber(ino: bigint | null): boolean {
  return Boolean(ino) && !(roundsFileNumbers && ino! > Number.MAX_SAFE_INTEGER && BigInt(Number(ino)) === ino);
}

/**
 * Returns a number that distinguishes a file from others of its name: the inode number, if it is exact; otherwise a hash
 * of it and, if it is unreliable, of the change time, or the modification time on systems without the former.
 */
export function fileNumber({ ino }: Pick<fs.Stats, "ino">, exact: () => fs.BigIntStats): number {
  if (ino > 0 && ino <= Number.MAX_SAFE_INTEGER) return ino;
  const { ino: number, ctimeNs, mtimeNs } = exact();
  const seed = isSureNumber(number) ? number : BigInt(number ?? 0) + (ctimeNs ?? mtimeNs);
  return Number(BigInt.asUintN(64, seed * 0x9e37_79b9_7f4a_7c15n) >> 11n);
}

/** Whether both identities are one file's; on Windows, an open file's device has another form than a path's. */
export function isOneFile(one: Identity, other: Identity): boolean {
  return one.ino === other.ino && (one.dev === other.dev || process.platform === "win32");
}

/**
 * An open file by its descriptor: calls take a tenth less time than with a FileHandle. An unreachable file is closed by
 * garbage collection, without ending the process.
 */
export class OpenFile {
  /** The descriptor; -1 from the call of close() on. */
  #number: number;
  readonly #atOnce: boolean;
  /** The number of running calls; each keeps this object alive, so that its file is not closed meanwhile. */
  #calls = 0;
  #isPipe = false;
  #onIdle: (() => void) | undefined = undefined;

  private constructor(number: number, atOnce: boolean) {
    this.#number = number;
    this.#atOnce = atOnce;
    dropped.register(this, number, this);
  }

  /** Opens a file; `flags` are those of fopen(), or the system's. */
  static async open(
    path: string,
    flags: string | number,
    { mode, atOnce = false }: OpenFileOptions = {},
  ): Promise<OpenFile> {
    const open = (): number | Promise<number> => {
      if (atOnce) return fs.openSync(path, flags, mode);
      return new Promise((resolve, reject) => {
        fs.open(path, flags, mode, (error, number) => error ? reject(error) : resolve(number));
      });
    };
    return new OpenFile(await whileUnshared(open), atOnce);
  }

  static openNow(path: string, flags: string | number, options: OpenFileOptions = {}): OpenFile {
    const { mode, atOnce = false, maxWait = MAX_BLOCKING_TIME } = options;
    const open = (): number => fs.openSync(path, flags, mode);
    return new OpenFile(whileRefusedNow(open, { codes: IN_USE, deadline: maxWait }), atOnce);
  }

  /**
   * Reopens a regular file of a known identity, but neither a link nor a pipe that now has its name.
   *
   * @throws {Error} of the file system, with its `code`, or if another file has the name.
   */
  static openSame(path: string, flags: number, known: Identity, maxWait?: number): OpenFile {
    const file = OpenFile.openNow(path, flags | linkFlag(false) | (fs.constants.O_NONBLOCK ?? 0), { maxWait });
    const status = file.exactStatus();
    if (status.isFile() && isOneFile(status, known)) return file;
    file.drop();
    throw new Error("another file has its name by now");
  }

  /**
   * Opens a regular file for reading, without waiting if a pipe takes its name.
   *
   * @throws {Error} of the file system, with its `code`: `EISDIR` or `EINVAL` for any other object.
   */
  static async openRegular(path: string): Promise<OpenFile> {
    requireRegular(await stat(path)); // opening a pipe or a device has effects
    const flags = fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0);
    const file = await whileRefused(() => OpenFile.open(path, flags), { codes: LEASED, deadline: 60_000 });
    try {
      requireRegular(file.status());
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get isClosed(): boolean {
    return this.#number === -1;
  }

  get isBusy(): boolean {
    return this.#calls > 0;
  }

  /** Reads the next bytes, or those from `position` on, into `buffer`; resolves to their number, 0 at the end. */
  read(buffer: Uint8Array, position: number | null = null): Promise<number> {
    const most = Math.min(buffer.length, MAX_CALL_SIZE);
    return this.#later((number, done) => fs.read(number, buffer, 0, most, position, done));
  }

  /** Appends bytes of `piece`; resolves to the number that the system took. */
  write(piece: Uint8Array, start: number, length: number): Promise<number> {
    if (this.#atOnce) return this.#now((number) => fs.writeSync(number, piece, start, length, null));
    return this.#later((number, done) => fs.write(number, piece, start, length, null, done));
  }

  /** Appends the bytes of at most 1,024 `pieces`; resolves to the number that the system took. */
  writev(pieces: readonly Uint8Array[]): Promise<number> {
    if (this.#atOnce) return this.#now(() => this.takeNow(pieces));
    return this.#later((number, done) => fs.writev(number, pieces as Uint8Array[], null, done));
  }

  /** Appends bytes like {@linkcode writev}, synchronously; returns 0 if a pipe's reader must make room first. */
  takeNow(pieces: readonly Uint8Array[]): number {
    const number = this.#opened();
    const [first] = requirePieces(pieces);
    try {
      // A non-blocking pipe takes as many bytes completely, or none.
      const most = this.#isPipe ? pipeSize() : MAX_CALL_SIZE;
      if (pieces.length > 1 && !this.#isPipe) return fs.writevSync(number, pieces as Uint8Array[]);
      return fs.writeSync(number, first, 0, Math.min(first.length, most), null); // a third of the time on Deno
    } catch (error) {
      if ((error as { code?: unknown }).code === "EAGAIN") return 0;
      throw error;
    }
  }

  /** Appends all bytes of `pieces`, synchronously. @throws {Error} also if a reader takes no bytes for two seconds. */
  writeNow(pieces: readonly Uint8Array[], maxWait?: number): void {
    for (let rest = pieces, waited = 0; rest.length > 0; waited++) {
      const taken = whileRefusedNow(() => this.takeNow(rest), { codes: UNSHARED, deadline: maxWait });
      rest = behind(rest, taken);
      if (taken > 0) waited = 0;
      else if (waited >= MAX_BLOCKING_TIME) throw new Error(`its reader has taken nothing for ${MAX_BLOCKING_TIME} ms`);
      else block(1);
    }
  }

  /** Appends all bytes of a stream, by a function of the runtime; resolves to their number. */
  async writeStream(stream: ReadableStream<Uint8Array>): Promise<number> {
    const number = this.#opened();
    this.#calls++;
    try {
      return await writeStream!(number, stream);
    } finally {
      if (--this.#calls === 0) this.#onIdle?.();
    }
  }

  size(): number {
    return this.status().size;
  }

  status(): fs.Stats {
    return fs.fstatSync(this.#opened());
  }

  /** Returns the {@linkcode status} with exact numbers of any size. */
  exactStatus(): fs.BigIntStats {
    return fs.fstatSync(this.#opened(), { bigint: true });
  }

  /** The path by which Linux shows the open file to its own process. */
  get ownPath(): string {
    return `/proc/self/fd/${this.#opened()}`;
  }

  /** Opens a file synchronously and non-blocking, so that no call waits for a pipe's reader. @throws {Error} `ENXIO` if it has none. */
  static openWithoutWaits(path: string, flags: number, options?: OpenFileOptions): OpenFile {
    const file = OpenFile.openNow(path, flags | (fs.constants.O_NONBLOCK ?? 0), options);
    const status = file.status();
    file.#isPipe = status.isFIFO();
    if (!status.isCharacterDevice()) return file;
    try { // a non-blocking terminal takes parts, which Deno does not report; a pipe may have its name now
      return showsOpenFiles()
        ? OpenFile.openNow(file.ownPath, flags & ~linkFlag(false))
        : OpenFile.openNow(path, flags, options);
    } finally {
      file.drop();
    }
  }

  /** Reopens a pipe as non-blocking, so that no call waits for its reader; returns other files, and one that lost its name, unchanged. */
  withoutWaits(path: string): OpenFile {
    if (!this.status().isFIFO()) return this;
    const files: OpenFile[] = [this];
    try {
      files.push(OpenFile.openWithoutWaits(showsOpenFiles() ? this.ownPath : path, fs.constants.O_WRONLY));
      if (!isOneFile(files[1].exactStatus(), this.exactStatus())) files.reverse();
      return files.pop()!;
    } finally {
      for (const unused of files) unused.drop();
    }
  }

  /** Truncates the file to `length` bytes. Windows cannot truncate a file opened for appending: it is reopened by `path`. */
  truncate(length: number, path: string): void {
    try {
      fs.ftruncateSync(this.#opened(), length);
    } catch (error) {
      if (!passingRefusals().has((error as NodeJS.ErrnoException).code!)) throw error;
      const file = OpenFile.openNow(path, "r+");
      try {
        // Within a folder, an inode number identifies a file.
        if (file.exactStatus().ino !== this.exactStatus().ino) throw error;
        fs.ftruncateSync(file.#number, length);
      } finally {
        file.drop();
      }
    }
  }

  chmod(mode: number): void {
    fs.fchmodSync(this.#opened(), mode);
  }

  chown(uid: number, gid: number): void {
    fs.fchownSync(this.#opened(), uid, gid);
  }

  setModified(ms: number): void {
    const time = systemTime(ms);
    fs.futimesSync(this.#opened(), time, time);
  }

  /** Waits until the written bytes, and the metadata to find them, are on the disk; does nothing for a pipe or a device. */
  async datasync(): Promise<void> {
    await this.#later<void>((number, done) => fs.fdatasync(number, done)).catch((error) => this.#requireNoDisk(error));
  }

  datasyncNow(): void {
    try {
      fs.fdatasyncSync(this.#opened());
    } catch (error) {
      this.#requireNoDisk(error);
    }
  }

  #requireNoDisk(error: unknown): void {
    if (!withoutDisk.includes(codeOf(error)) || this.status().isFile()) throw error;
  }

  sync(): Promise<void> {
    return this.#later((number, done) => fs.fsync(number, done));
  }

  /** Closes the file after its running calls: later, its descriptor may be another file's. */
  async close(): Promise<void> {
    const number = this.#number;
    if (number === -1) return;
    this.#number = -1;
    dropped.unregister(this);
    if (this.#calls > 0) await new Promise<void>((resolve) => this.#onIdle = resolve);
    if (this.#atOnce) return fs.closeSync(number);
    await new Promise<void>((resolve, reject) => fs.close(number, (error) => error ? reject(error) : resolve()));
  }

  /** Closes a file like {@linkcode close}, but ignores a failure: none of its bytes are awaited. Never rejects. */
  drop(): Promise<void> {
    return this.close().catch(() => {});
  }

  /** Closes a file without running calls: file servers report a full disk then. */
  closeNow(): void {
    const number = this.#opened();
    this.#number = -1;
    dropped.unregister(this);
    fs.closeSync(number);
  }

  async #now<T>(call: (number: number) => T): Promise<T> {
    try {
      return call(this.#opened());
    } catch (error) {
      return await whileLocked(error, () => call(this.#opened()));
    }
  }

  #later<T>(start: (number: number, done: (error: Error | null, value: T) => void) => void): Promise<T> {
    return this.#once(start).catch((error) => whileLocked(error, () => this.#once(start)));
  }

  #once<T>(start: (number: number, done: (error: Error | null, value: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      start(this.#opened(), (error, value) => {
        if (--this.#calls === 0) this.#onIdle?.();
        if (error) reject(error);
        else resolve(value);
      });
      this.#calls++; // a call whose start throws is not counted
    });
  }

  #opened(): number {
    if (this.#number === -1) throw new TypeError("the file is closed");
    return this.#number;
  }
}

function requireRegular(status: fs.Stats): void {
  if (status.isFile()) return;
  const [code, message] = status.isDirectory()
    ? ["EISDIR", "it is a directory"]
    : ["EINVAL", "it is no regular file: read it with openFileReadable()"];
  throw Object.assign(new Error(message), { code });
}

/** Closes unreachable files. A running read or write keeps its file reachable. */
const dropped = new FinalizationRegistry<number>((number) => fs.close(number, () => {}));

/** Whether the system shows a process its open files as paths, like Linux with /proc. */
export function showsOpenFiles(): boolean {
  return process.platform === "linux" && isPermitted("systemFiles") && fs.existsSync("/proc/self/fd");
}

/**
 * Returns a time in ms since 1970 for `futimes()`. Runtimes treat negative numbers as the present; Deno refuses dates
 * before 1970 with fractions of a second, which are rounded down.
 */
export function systemTime(ms: number): number | Date {
  return ms < 0 ? new Date(Math.floor(ms / 1000) * 1000) : ms / 1000;
}

/** Returns the flag that makes the system refuse to open a symbolic link; 0 on Windows, which has none, or if links may be followed. */
export function linkFlag(followLinks: boolean | undefined): number {
  return followLinks === false ? fs.constants.O_NOFOLLOW ?? 0 : 0;
}
