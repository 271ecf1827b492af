import { type FileHandle, link, lstat, open, rename, rm } from "node:fs/promises";
import { temporaryPath } from "./temporary.ts";
import { writeFully } from "./write_fully.ts";

/** Options of {@linkcode AtomicFile.open}. */
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
}

/**
 * A file that appears under its name only when it is complete: written under a temporary name in the same folder,
 * flushed to the disk, renamed.
 *
 * @example
 * ```ts
 * import { AtomicFile } from "@millrace/streams/files";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 *
 * const file = await AtomicFile.open(join(tmpdir(), "millrace-example.txt"));
 * try {
 *   await file.write(new TextEncoder().encode("all of it, or nothing"));
 *   await file.commit();
 * } finally {
 *   await file.discard(); // does nothing after commit()
 * }
 * ```
 */
export class AtomicFile {
  #path: string;
  #temporary: string;
  #options: AtomicFileOptions;
  #handle: FileHandle | undefined;

  private constructor(path: string, temporary: string, options: AtomicFileOptions, handle: FileHandle) {
    this.#path = path;
    this.#temporary = temporary;
    this.#options = options;
    this.#handle = handle;
  }

  /**
   * Opens the temporary file for `path`.
   *
   * @throws {Error} what the file system says, with its `code`.
   */
  static async open(path: string, options: AtomicFileOptions = {}): Promise<AtomicFile> {
    const temporary = options.temporary ?? temporaryPath(path);
    const handle =
      await (options.temporary === undefined ? open(temporary, "wx", options.mode) : open(temporary, "r+"));
    return new AtomicFile(path, temporary, options, handle);
  }

  /** Appends `bytes`. */
  async write(bytes: Uint8Array): Promise<void> {
    await writeFully(this.#opened(), [bytes]);
  }

  /** Appends all bytes of `pieces`, with one call of the system where it takes them at once. */
  async writev(pieces: readonly Uint8Array[]): Promise<void> {
    await writeFully(this.#opened(), pieces);
  }

  /**
   * Puts the file under its name, in place of what was there unless `replace` is false; the temporary file is gone if
   * that fails.
   */
  async commit(): Promise<void> {
    const handle = this.#opened();
    const { mtimeMs, mode, replace = true } = this.#options;
    try {
      if (mode !== undefined) await handle.chmod(mode & 0o7777); // open() applied the umask
      if (mtimeMs !== undefined) await handle.utimes(mtimeMs / 1000, mtimeMs / 1000);
      await handle.datasync();
      await handle.close();
      this.#handle = undefined;
      if (replace) await rename(this.#temporary, this.#path);
      else await renameToFree(this.#temporary, this.#path);
    } catch (error) {
      await this.discard();
      await rm(this.#temporary, { force: true });
      throw error;
    }
  }

  /** Removes the temporary file, unless it was committed. */
  async discard(): Promise<void> {
    if (!this.#handle) return;
    const handle = this.#handle;
    this.#handle = undefined;
    await handle.close().catch(() => {}); // the file goes away: what closing could not flush does not matter
    await rm(this.#temporary, { force: true });
  }

  /** {@linkcode discard}s what was not committed. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.discard();
  }

  #opened(): FileHandle {
    if (this.#handle) return this.#handle;
    throw new TypeError(`cannot write ${this.#path}: it is committed or discarded`);
  }
}

/** A rename that never replaces a file; where the file system has no links, one that appears meanwhile is replaced. */
async function renameToFree(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if ((error as { code?: unknown }).code === "EEXIST") throw error;
    if (await lstat(to).then(() => true, () => false)) {
      throw Object.assign(new Error(`EEXIST: file already exists, link '${from}' -> '${to}'`), { code: "EEXIST" });
    }
    await rename(from, to);
    return;
  }
  await rm(from);
}
