import { type FileHandle, open } from "node:fs/promises";
import { AtomicFile, type AtomicFileOptions } from "./atomic_file.ts";
import { writeFully } from "./write_fully.ts";

/** A file that is being written: under its name at once, or an {@linkcode AtomicFile}. */
export interface OutputFile {
  /** Appends bytes. */
  writev(pieces: readonly Uint8Array[]): Promise<void>;
  /** The file is complete. */
  commit(): Promise<void>;
  /** Lets go of the file as it is; does nothing after commit(). */
  discard(): Promise<void>;
}

/** How {@linkcode openOutputFile} opens a file. */
export interface OutputFileOptions extends AtomicFileOptions {
  readonly atomic?: boolean;
}

/** Opens a file to write to, empty. */
export async function openOutputFile(path: string, options: OutputFileOptions): Promise<OutputFile> {
  if (options.atomic) return await AtomicFile.open(path, options);
  const { mode, mtimeMs, replace = true } = options;
  return new PlainFile(await open(path, replace ? "w" : "wx", mode), mtimeMs);
}

/** A file under its own name from the beginning; discarding keeps what is written. */
class PlainFile implements OutputFile {
  readonly #mtimeMs: number | undefined;
  #handle: FileHandle | undefined;

  constructor(handle: FileHandle, mtimeMs: number | undefined) {
    this.#handle = handle;
    this.#mtimeMs = mtimeMs;
  }

  async writev(pieces: readonly Uint8Array[]): Promise<void> {
    await writeFully(this.#handle!, pieces);
  }

  async commit(): Promise<void> {
    const seconds = this.#mtimeMs === undefined ? undefined : this.#mtimeMs / 1000;
    try {
      if (seconds !== undefined) await this.#handle!.utimes(seconds, seconds);
    } catch (error) {
      await this.discard();
      throw error;
    }
    await this.#release();
  }

  async discard(): Promise<void> {
    await this.#release().catch(() => {}); // what made the file worthless is being told already
  }

  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
