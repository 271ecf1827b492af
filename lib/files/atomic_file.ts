import { unlink } from "node:fs";
import * as promises from "node:fs/promises";
import { dirname } from "node:path";
import { writeStream } from "../runtime/mod.ts";
import { flushFolder } from "./flush_folder.ts";
import { OpenFile } from "./open_file.ts";
import { takeName } from "./take_name.ts";
import { temporaryPath } from "./temporary.ts";
import { writeFully } from "./write_fully.ts";

/**
 * Options of {@linkcode AtomicFile.open}.
 *
 * @example A lock file that only one process gets
 * ```ts
 * import { AtomicFile, type AtomicFileOptions } from "@millrace/streams/files";
 *
 * const options: AtomicFileOptions = { replace: false, mode: 0o600 };
 * for (const holder of ["first", "second"]) {
 *   const lock = await AtomicFile.open("service.lock", options);
 *   await lock.write(new TextEncoder().encode(holder));
 *   const result = await lock.commit().then(() => "has it", (error) => error.code);
 *   console.log(result); // has it, EEXIST
 * }
 * ```
 */
export interface AtomicFileOptions {
  /** The time of last change to give the file, in ms since 1970. Default: now. */
  mtimeMs?: number;
  /** The permission bits to give the file. Default: what the process gives new files. */
  mode?: number;
  /**
   * An empty file to write to until the file is complete. It is not created, so that one that was removed meanwhile
   * stays so. Default: a new one in the same folder.
   */
  temporary?: string;
  /**
   * Whether what has the file's name already is replaced; if not, `commit()` fails with the code `EEXIST`.
   *
   * @default true
   */
  replace?: boolean;
  /**
   * Whether the file's bytes are flushed to the disk before it gets its name, and then the name, so that both outlive a
   * loss of power. Without it a loss of power may leave an empty file under the name.
   *
   * @default true
   */
  flush?: boolean;
  /**
   * Whether calls of the system are made synchronously, but for those that wait for the disk: for what comes faster
   * than it can be held back.
   *
   * @default false
   */
  atOnce?: boolean;
}

/**
 * A file that appears under its name only when it is complete: written under a temporary name in the same folder,
 * flushed to the disk, renamed.
 *
 * A file that is dropped without an end is closed, and the temporary one removed, when the garbage collector finds it.
 *
 * @example All of it, or nothing
 * ```ts
 * import { AtomicFile } from "@millrace/streams/files";
 *
 * const file = await AtomicFile.open("settings.json");
 * try {
 *   await file.write(new TextEncoder().encode('{"theme":"dark"}'));
 *   console.log(file.size); // 16
 *   await file.commit();
 * } finally {
 *   await file.discard(); // does nothing after commit()
 * }
 * ```
 */
export class AtomicFile {
  readonly #path: string;
  readonly #temporary: string;
  readonly #options: AtomicFileOptions;
  readonly #file: OpenFile;
  #state: "open" | "ended" | "gone" = "open";
  #isStreaming = false;

  private constructor(path: string, temporary: string, options: AtomicFileOptions, file: OpenFile) {
    this.#path = path;
    this.#temporary = temporary;
    this.#options = options;
    this.#file = file;
    // The caller's own temporary file is the caller's to remove.
    if (options.temporary === undefined) dropped.register(this, temporary, this);
  }

  /**
   * Opens the temporary file for `path`.
   *
   * @throws {Error} what the file system says, with its `code`.
   */
  static async open(path: string, options: AtomicFileOptions = {}): Promise<AtomicFile> {
    const temporary = options.temporary ?? temporaryPath(path);
    const flags = options.temporary === undefined ? "wx+" : "r+";
    return new AtomicFile(path, temporary, options, await OpenFile.open(temporary, flags, options));
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#file.size();
  }

  /** Reads bytes written, from the one at `position` on; returns how many were read. */
  readBack(buffer: Uint8Array, position: number): number {
    return this.#file.readBack(buffer, position);
  }

  /** Appends `bytes`. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.writev([bytes]);
  }

  /**
   * Appends all bytes of `pieces`, with one call of the system where it takes them at once. One call at a time: wait
   * for the one before.
   */
  async writev(pieces: readonly Uint8Array[]): Promise<void> {
    if (this.#state !== "open") throw this.#misuse();
    await writeFully(this.#file, pieces);
  }

  /**
   * Appends all bytes of a stream; resolves to how many there were. Where the runtime can do that, which is Bun with
   * the body of a request to its server, they do not pass through JavaScript. One call at a time.
   */
  async writeStream(stream: ReadableStream<Uint8Array>): Promise<number> {
    if (this.#state !== "open") throw this.#misuse();
    if (writeStream !== undefined) {
      this.#isStreaming = true;
      return await this.#file.writeStream(stream).finally(() => this.#isStreaming = false);
    }
    let bytes = 0;
    for await (const chunk of stream) {
      await this.write(chunk);
      bytes += chunk.length;
    }
    return bytes;
  }

  /**
   * Everything but the name: flushes the file and closes it. So that several files can be completed first and get their
   * names together, by {@linkcode commit}. The temporary file is gone if that fails.
   *
   * @throws {Error} what the file system says, with its `code`.
   */
  async end(): Promise<void> {
    if (this.#state !== "open") throw this.#misuse();
    const { mtimeMs, mode, flush = true } = this.#options;
    try {
      if (mode !== undefined) await this.#file.chmod(mode & 0o7777); // open() applied the umask
      if (mtimeMs !== undefined) await this.#file.setModified(mtimeMs);
      if (flush) await this.#file.datasync();
      await this.#file.close();
    } catch (error) {
      await this.discard();
      throw error;
    }
    if (this.#state === "open") this.#state = "ended";
  }

  /**
   * Puts the file under its name, in place of what was there unless `replace` is false; {@linkcode end}s it before if
   * that was not done. The temporary file is gone if that fails.
   *
   * @throws {Error} what the file system says, with its `code`.
   */
  async commit(): Promise<void> {
    if (this.#state === "open") await this.end();
    if (this.#state !== "ended") throw this.#misuse();
    const { replace = true, flush = true, atOnce = false } = this.#options;
    try {
      await takeName(this.#temporary, this.#path, { replace, atOnce });
    } catch (error) {
      await this.discard();
      throw error;
    }
    this.#leave();
    if (flush) await flushFolder(dirname(this.#path));
  }

  /** Removes the temporary file, unless it was committed. */
  async discard(): Promise<void> {
    if (this.#state === "gone") return;
    this.#leave();
    const closing = this.#file.close().catch(() => {}); // the file goes away: what closing could not flush does not matter
    // A stream cannot be stopped by us; it goes on to a file that has no name any more, which is closed when it ends.
    if (!this.#isStreaming) await closing;
    await promises.unlink(this.#temporary).catch((error) => {
      if (error.code !== "ENOENT") throw error;
    });
  }

  /** {@linkcode discard}s what was not committed. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.discard();
  }

  /** The temporary file is nobody's concern any more. */
  #leave(): void {
    this.#state = "gone";
    dropped.unregister(this);
  }

  #misuse(): TypeError {
    const state = this.#state === "ended" ? "complete" : "committed or discarded";
    return new TypeError(`cannot write ${this.#path}: it is ${state}`);
  }
}

/** Removes temporary files whose {@linkcode AtomicFile} was dropped; no other file has ever had such a name. */
const dropped = new FinalizationRegistry<string>((temporary) => unlink(temporary, () => {}));
