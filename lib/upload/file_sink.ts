import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { AtomicFile } from "../files/mod.ts";
import type { OutputFile } from "../files/internal.ts";
import { writesAtOnce } from "../runtime/mod.ts";
import type { BodySink, StreamTaker } from "./body_sink.ts";
import { openDevice } from "./device_file.ts";
import { leftError } from "./left_error.ts";
import type { SaveBodyOptions } from "./save_options.ts";
import { removeAbandonedOnce } from "./remove_abandoned_once.ts";
import { storageFailure } from "./storage_failure.ts";
import { UploadError } from "./upload_error.ts";

/**
 * What is at a path, and where the file is that would be replaced. Looking is synchronous: it takes some µs, and a turn
 * of the event loop would let more of the body arrive before it can be held back.
 */
interface Place {
  readonly path: string;
  readonly status: Stats | undefined;
}

type FileOptions = Pick<SaveBodyOptions, "root" | "overwrite" | "mode" | "flush">;

/**
 * Opens a file that appears under its name when it is committed; or what is there already, if that is no file that
 * could be replaced.
 *
 * @param name What the file is called in errors that the sender may see.
 * @throws {UploadError} `EXISTS` if there is a file that must not be replaced, `BAD_NAME` if its name is too long.
 * @throws {Error} what the file system says otherwise, with its `code`.
 */
export async function openFileSink(path: string, name: string, options: FileOptions): Promise<BodySink> {
  try {
    const place = options.root === undefined ? followed(path) : unfollowed(path);
    const file = await openFile(place, options);
    return file instanceof AtomicFile ? new AtomicFileSink(path, name, file) : new FileSink(path, name, file);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "ENAMETOOLONG" && options.root !== undefined) {
      throw new UploadError("BAD_NAME", `Cannot save ${name}: the name is too long`, { cause: error });
    }
    throw storageFailure("create", path, name, error);
  }
}

async function openFile({ path, status }: Place, options: FileOptions): Promise<OutputFile> {
  if (status?.isDirectory()) throw systemError("EISDIR", "it is a directory");
  if (status && !status.isFile() && !status.isSymbolicLink()) return await openDevice(path, status);
  const { overwrite = false, flush = false } = options;
  if (status && !overwrite) throw systemError("EEXIST", "file already exists");
  const mode = options.mode ?? (status?.isFile() ? status.mode & 0o777 : undefined);
  const file = await AtomicFile.open(path, {
    replace: overwrite,
    flush,
    atOnce: writesAtOnce,
    ...(mode !== undefined && { mode }),
  });
  removeAbandonedOnce(dirname(path));
  return file;
}

/** Where the file is that is written to `path`: links are followed. One that leads nowhere is taken for the file. */
function followed(path: string): Place {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isSymbolicLink()) return { path, status };
  const target = statSync(path, { throwIfNoEntry: false });
  // What links in /dev and /proc say of a pipe or a device is no path.
  if (target === undefined || !target.isFile()) return { path, status: target ?? status };
  return { path: realpathSync.native(path), status: target };
}

/** As {@linkcode followed}, but a link to a file is replaced itself: it may lead out of the root. */
function unfollowed(path: string): Place {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (!status?.isSymbolicLink()) return { path, status };
  const target = statSync(path, { throwIfNoEntry: false });
  return { path, status: target?.isDirectory() ? target : status };
}

function systemError(code: string, words: string): Error {
  return Object.assign(new Error(`${code}: ${words}`), { code });
}

/** Writes to a file, and tells what fails in the words of who sent it. */
class FileSink implements BodySink {
  readonly path: string;
  readonly #name: string;
  readonly #file: OutputFile;

  constructor(path: string, name: string, file: OutputFile) {
    this.path = path;
    this.#name = name;
    this.#file = file;
  }

  async write(pieces: readonly Uint8Array[]): Promise<void> {
    await this.#file.writev(pieces).catch((error) => this.fail("write", error));
  }

  async end(): Promise<void> {
    await this.#file.end().catch((error) => this.fail("complete", error));
  }

  async commit(): Promise<void> {
    await this.#file.commit().catch((error) => this.fail("complete", error));
  }

  async discard(): Promise<void> {
    await this.#file.discard().catch(() => {}); // why it is discarded is being told already
  }

  /** Throws what the file system says. */
  protected fail(action: string, error: unknown): never {
    throw storageFailure(action, this.path, this.#name, error);
  }
}

/** A file that takes streams too. */
class AtomicFileSink extends FileSink implements StreamTaker {
  readonly #file: AtomicFile;

  constructor(path: string, name: string, file: AtomicFile) {
    super(path, name, file);
    this.#file = file;
  }

  writeStream(stream: ReadableStream<Uint8Array>): Promise<number> {
    return this.#file.writeStream(stream).catch((error) => {
      // A connection's errors have no code of the file system, which are of fs's calls.
      if (typeof error?.syscall !== "string") throw leftError(error);
      return this.fail("write", error);
    });
  }

  size(): number {
    return this.#file.size;
  }

  readBack(buffer: Uint8Array, position: number): number {
    return this.#file.readBack(buffer, position);
  }
}
