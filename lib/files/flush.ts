import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { flushFlags, mayRead } from "../runtime/mod.ts";
import { codeOf, failingNow, fileFailure } from "./failure.ts";
import { OpenFile } from "./open_file.ts";
import { followedPlace } from "./place.ts";
import { UNSHARED, whileRefused, whileRefusedNow } from "./rename.ts";

/** Error codes of systems that cannot flush a folder, or do not let this user open it. */
const refusals: readonly unknown[] = ["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

/**
 * Waits until the names in a folder are on the disk, where the system can do that. The folder is opened before `change`,
 * which changes the names: what wants a descriptor fails while nothing has happened.
 */
export async function flushFolder(path: string, change?: () => Promise<void>): Promise<void> {
  const folder = await OpenFile.open(path, "r").catch(requireRefusal);
  try {
    await change?.();
    await folder?.sync().catch(requireRefusal);
  } finally {
    await folder?.close().catch(() => {}); // nothing was written to it
  }
}

/** @throws {unknown} `error`, if another system might flush the folder all the same. */
function requireRefusal(error: { readonly code?: unknown }): undefined {
  if (!refusals.includes(error.code)) throw error;
}

/** The failures of a process without a free descriptor, which are waited out as those of writes; and of files in use. */
const passing = { codes: new Set(["EMFILE", "ENFILE", ...UNSHARED]), deadline: 60_000 };

/**
 * Waits until the bytes of closed files, and the names in their folder, are on the disk. Files that are gone have none.
 *
 * @throws {Error} that names what cannot be flushed, with the system's `code`.
 */
export async function flushFiles(paths: readonly string[], folder: string): Promise<void> {
  for (const path of paths) {
    await whileRefused(async () => {
      const file = await OpenFile.open(path, flushFlags());
      await file.datasync().finally(() => file.close());
    }, passing).catch((error) => requireGone(path, error));
  }
  await whileRefused(() => flushFolder(folder), passing).catch((error) => requireGone(folder, error));
}

/** Does what {@linkcode flushFiles} does, but blocks the thread meanwhile. */
export function flushFilesNow(paths: readonly string[], folder: string): void {
  for (const path of [...paths, folder]) {
    try {
      whileRefusedNow(() => {
        const descriptor = openSync(path, path === folder ? "r" : flushFlags());
        try {
          fsyncSync(descriptor);
        } finally {
          closeSync(descriptor);
        }
      }, { codes: passing.codes });
    } catch (error) {
      if (path !== folder || !refusals.includes(codeOf(error))) requireGone(path, error);
    }
  }
}

/** The name under which a file is written: that of a new one is not on the disk with its bytes. It is flushed once. */
export class FileName {
  readonly #path: string;
  #isFlushed = false;

  constructor(path: string) {
    this.#path = path;
  }

  async flush(): Promise<void> {
    const folder = this.#folder();
    if (folder !== undefined) await flushFiles([], folder);
    this.#isFlushed = true;
  }

  flushNow(): void {
    const folder = this.#folder();
    if (folder !== undefined) flushFilesNow([], folder);
    this.#isFlushed = true;
  }

  /** The folder with the name; undefined if that is flushed, a pipe's or a device's, or not to be seen by this process. */
  #folder(): string | undefined {
    if (this.#isFlushed || !mayRead(dirname(this.#path))) return undefined;
    try {
      const { path, status } = followedPlace(this.#path);
      const folder = dirname(path);
      return (status?.isFile() ?? true) && mayRead(folder) ? folder : undefined;
    } catch (error) {
      return requireRefusal(error as { readonly code?: unknown });
    }
  }
}

/** @throws {Error} unless the file is gone, or a link has its name. */
function requireGone(path: string, error: unknown): void {
  if (!["ENOENT", "ELOOP"].includes(codeOf(error)!)) throw fileFailure("flush", path, error);
}

/**
 * The files that a stream writes to no more, which are closed beside its writing, and its flushes. After a failed flush
 * all fail: the system has dropped what it could not write, and would acknowledge the next one.
 */
export class LeftFiles {
  /** The files that are being flushed, with their paths. */
  readonly #flushing: Map<OpenFile, string> = new Map();
  #closing: Promise<unknown> = Promise.resolve();
  #failure: Error | undefined = undefined;

  /** Closes a file. A later flush finds it by its path. */
  close(file: OpenFile): void {
    this.#closing = Promise.all([this.#closing, file.close().catch(() => {})]); // its bytes are in the system's hands
  }

  /** Closes a file once its bytes are on the disk: another program has its name, or the right to open it. */
  flushAndClose(file: OpenFile, path: string): void {
    this.#flushing.set(file, path);
    const flushed = file.datasync().catch((error) => {
      this.#failure ??= fileFailure("flush", path, error);
    });
    const closed = flushed.then(() => {
      this.#flushing.delete(file);
      return file.close().catch(() => {});
    });
    this.#closing = Promise.all([this.#closing, closed]);
  }

  /**
   * Waits until all are closed, and those on the disk; then flushes what the stream writes to.
   *
   * @throws {Error} that names a file that could not be flushed, now or earlier.
   */
  async flush(others?: () => Promise<void>): Promise<void> {
    await this.#closing;
    this.#requireNone();
    await others?.().catch((error) => this.#fail(error));
  }

  /** Does what {@linkcode flush} does, but blocks the thread meanwhile. */
  flushNow(others: () => void): void {
    this.#requireNone();
    try {
      for (const [file, path] of this.#flushing) failingNow("flush", path, () => file.datasyncNow());
      others();
    } catch (error) {
      this.#fail(error);
    }
  }

  #requireNone(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #fail(error: unknown): never {
    if (!passing.codes.has(codeOf(error) ?? "")) this.#failure ??= error as Error; // else nothing was lost
    throw error;
  }
}
