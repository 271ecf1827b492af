import { constants } from "node:fs";
import { AtomicFile, type AtomicFileOptions } from "./atomic_file.ts";
import { failing } from "./failure.ts";
import { FileName } from "./flush.ts";
import type { ItemTarget } from "./item_writer.ts";
import { linkFlag, OpenFile } from "./open_file.ts";
import { writeFully } from "./write_fully.ts";

export interface FileTarget extends ItemTarget {
  readonly path: string;
  commit(): Promise<void>;
}

/** A file that is being written: directly under its name, or as an {@linkcode AtomicFile}. */
export interface OutputFile {
  writev(pieces: readonly Uint8Array[]): Promise<void>;
  /** Waits until the written bytes are on the disk; missing for an atomic file, which is not visible before it is complete. */
  sync?(): Promise<void>;
  /** Completes the file: flushes it with the option `flush`, and closes it; an atomic file gets its name. */
  commit(): Promise<void>;
  /** Closes the file unfinished; does nothing after commit(). */
  discard(): Promise<void>;
}

export interface OutputFileOptions extends AtomicFileOptions {
  readonly atomic?: boolean;
}

export async function openOutputFile(path: string, options: OutputFileOptions): Promise<OutputFile> {
  const { atomic, ...others } = options;
  if (atomic) return await AtomicFile.open(path, others);
  const { O_CREAT, O_TRUNC, O_WRONLY } = constants;
  const over = O_WRONLY | O_CREAT | O_TRUNC | linkFlag(options.followLinks);
  // "wx" does not follow links.
  const file = await OpenFile.open(path, options.replace === false ? "wx" : over, options);
  return new PlainFile(path, file, options);
}

/** A file that has its name from the beginning; discarding it keeps the written bytes. */
class PlainFile implements OutputFile {
  readonly #file: OpenFile;
  readonly #name: FileName;
  readonly #options: OutputFileOptions;

  constructor(path: string, file: OpenFile, options: OutputFileOptions) {
    this.#name = new FileName(path);
    this.#file = file;
    this.#options = options;
  }

  async writev(pieces: readonly Uint8Array[]): Promise<void> {
    await writeFully(this.#file, pieces);
  }

  async sync(): Promise<void> {
    await this.#file.datasync();
    await this.#name.flush();
  }

  async commit(): Promise<void> {
    const { mtimeMs, flush = false } = this.#options;
    try {
      if (mtimeMs !== undefined) this.#file.setModified(mtimeMs);
      if (flush) await this.sync();
    } catch (error) {
      await this.discard();
      throw error;
    }
    await this.#file.close();
  }

  async discard(): Promise<void> {
    await this.#file.drop(); // the reason of the failure is already being thrown
  }
}

/** Returns the target of a stream for a file that is written from its beginning. */
export function wholeFile(path: string, file: OutputFile): FileTarget {
  return {
    path,
    maxFileSize: Infinity,
    cutsLines: false,
    room: Infinity,
    async write(pieces, length): Promise<void> {
      if (length > 0) await file.writev(pieces).catch(failing("write", path));
    },
    rotate: () => Promise.resolve(), // there is only one file
    async flush(): Promise<void> {
      await file.sync?.().catch(failing("flush", path));
    },
    commit: () => file.commit(),
    discard: () => file.discard(),
  };
}
