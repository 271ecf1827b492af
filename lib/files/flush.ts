import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { flushFlags, mayRead } from "../runtime/mod.ts";
import { codeOf, failingNow, fileFailure } from "./failure.ts";
import { OpenFile } from "./open_file.ts";
import { followedPlace } from "./place.ts";
import { NOT_NOW, whileRefused, whileRefusedNow } from "./rename.ts";

/** Error codes of systems that cannot flush a folder, or do not let this user open one. */
const refusals: readonly unknown[] = ["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

/**
 * Waits until the names in a folder are on the disk, if the system can flush them. The folder is opened before `change`
 * changes the names, so that a lack of descriptors fails before any change.
 */
export async function flushFolder(path: string, change?: () => Promise<void>): Promise<void> {
  const folder = await OpenFile.open(path, "r").catch(requireRefusal);
  try {
    await change?.();
    await folder?.sync().catch(requireRefusal);
  } finally {
    await folder?.drop(); // no bytes were written to it
  }
}

/** @throws {unknown} `error`, unless its code means that the system cannot flush a folder. */
function requireRefusal(error: { readonly code?: unknown }): undefined {
  if (!refusals.includes(error.code)) throw error;
}

/** Transient failures, which are retried: no free descriptor, and files in use. */
const passing = { codes: NOT_NOW, deadline: 60_000 };

/**
 * Waits until the bytes of closed files, and the names in their folder, are on the disk. Removed files are skipped.
 *
 * @throws {Error} with the name of the file or folder that cannot be flushed, and the system's `code`.
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

/** Flushes like {@linkcode flushFiles}, but blocks the thread. */
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

/** The name of the written file. A new file's name is not flushed with its bytes, but separately, once. */
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

  /** Returns the folder of the name; undefined if it is flushed, belongs to a pipe or device, or is inaccessible. */
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

/** @throws {Error} unless the file was removed, or a link has its name. */
function requireGone(path: string, error: unknown): void {
  if (!["ENOENT", "ELOOP"].includes(codeOf(error)!)) throw fileFailure("flush", path, error);
}

/**
 * The files that a stream no longer writes to, closed in parallel with its writes, and their flushes. After a failed
 * flush or close, all later flushes fail: the system has dropped the bytes, and would report success for the next one.
 */
export class LeftFiles {
  /** The files that are being flushed, with their paths. */
  readonly #flushing: Map<OpenFile, string> = new Map();
  #closing: Promise<unknown> = Promise.resolve();
  #failure: Error | undefined = undefined;

  /** Closes a file, whose bytes a file server may refuse only then. A later flush opens it by its path. */
  close(file: OpenFile, path: string): void {
    const closed = file.close().catch((error) => {
      this.#failure ??= fileFailure("close", path, error);
    });
    this.#closing = Promise.all([this.#closing, closed]);
  }

  /** Flushes and closes a file, because another program has its name, or the right to open it. */
  flushAndClose(file: OpenFile, path: string): void {
    this.#flushing.set(file, path);
    const flushed = file.datasync().catch((error) => {
      this.#failure ??= fileFailure("flush", path, error);
    });
    const closed = flushed.then(() => {
      this.#flushing.delete(file);
      return file.drop();
    });
    this.#closing = Promise.all([this.#closing, closed]);
  }

  /**
   * Waits until all of them are closed, and flushed if necessary; then calls `others` to flush the stream's current
   * file.
   *
   * @throws {Error} with the name of a file that could not be flushed, now or earlier.
   */
  async flush(others?: () => Promise<void>): Promise<void> {
    await this.#closing;
    this.#requireNone();
    await others?.().catch((error) => this.#fail(error));
  }

  /** Flushes like {@linkcode flush}, but blocks the thread. */
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
    if (!passing.codes.has(codeOf(error) ?? "")) this.#failure ??= error as Error; // otherwise no bytes were lost
    throw error;
  }
}
