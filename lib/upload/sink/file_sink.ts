import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import {
  commitFile,
  fileFailure,
  foldedName,
  followedPlace,
  ignoresCase,
  openAtomicFileAt,
  type Place,
  placeItself,
  realPath,
  removeAbandonedOnce,
  type Undoable,
} from "../../files/internal.ts";
import type { AtomicFile } from "../../files/mod.ts";
import { writesAtOnce } from "../../runtime/mod.ts";
import { leftError, UploadError, type UploadErrorCode } from "../body/upload_error.ts";
import type { SaveBodyOptions } from "../body/upload_options.ts";
import { type Claim, type ContainedPlace, takePlace } from "./contained_path.ts";

/** The destination of a body. One call at a time. */
export interface BodySink {
  /** The absolute path of the file; undefined for other destinations. */
  readonly path?: string;
  /** The path without links, folded where the file system ignores case: all names of one file have one place. */
  readonly place?: string;
  /** Appends all bytes; once it is fulfilled, the memory of the pieces may be reused. */
  write(pieces: readonly Uint8Array[]): Promise<void>;
  /** Ends the writing: flushes the file with the option `flush`, and closes it, still without its name. */
  end(): Promise<void>;
  /** Gives the file its name, after {@linkcode end}, and adds the undo to `made`, if it can be undone. */
  commit(made?: Undoable[]): Promise<void>;
  /** Removes the file, before or after {@linkcode end}. Never rejects. */
  discard(reason: unknown): Promise<void>;
}

/** A sink that takes a whole stream at once, whose bytes do not pass through JavaScript. */
export interface StreamTaker extends BodySink {
  /** Writes all of a stream, which cannot be stopped, only {@linkcode discard}ed. @throws {UploadError} `ABORTED`. */
  writeStream(stream: ReadableStream<Uint8Array>): Promise<number>;
  size(): number;
}

/** Whether a sink takes whole streams, which depends on the runtime. */
export function takesStreams(sink: BodySink): sink is StreamTaker {
  return "writeStream" in sink;
}

export type FileOptions = Pick<SaveBodyOptions, "root" | "overwrite" | "mode" | "flush"> & {
  readonly claim?: Claim | undefined;
};

/** Opens a file that appears when it is committed, and releases `contained` with it. Senders see `name` in errors. */
export async function openFileSink(contained: ContainedPlace, name: string, options: FileOptions): Promise<BodySink> {
  const { path, reached, verify } = contained;
  let sink: BodySink | undefined;
  try {
    const place = options.root === undefined ? followed(path, options) : unfollowed(reached);
    const file = await openFile(place, options);
    removeAbandonedOnce(dirname(options.root === undefined ? place.path : path));
    sink = fileSink(contained, options.root === undefined ? place.path : path, name, file, options.claim);
    verify?.();
    return sink;
  } catch (error) {
    await sink?.discard(error);
    if (error instanceof UploadError) throw error;
    const { code } = error as { code?: unknown };
    if (code === "ENAMETOOLONG" && options.root !== undefined) {
      throw new UploadError("BAD_NAME", `Cannot save ${name}: the name is too long`, { cause: error });
    }
    throw storageFailure("create", path, name, error);
  } finally {
    if (sink === undefined) contained.release();
  }
}

async function openFile(place: Place, options: FileOptions): Promise<AtomicFile> {
  const { status } = place;
  if (status?.isDirectory()) throw systemError("EISDIR", "it is a directory");
  const { overwrite = false, flush = false } = options;
  if (status && !overwrite) throw systemError("EEXIST", "file already exists");
  const { mode } = options;
  return await openAtomicFileAt(place, {
    replace: overwrite,
    followLinks: options.root === undefined,
    flush,
    atOnce: writesAtOnce,
    ...(mode !== undefined && { mode }),
  });
}

/** Returns the place that links lead to. A dangling link counts as a file unless `overwrite` is set. */
function followed(path: string, { overwrite }: FileOptions): Place {
  const place = followedPlace(path);
  const isDangling = place.status === undefined && place.path !== path;
  return isDangling && !overwrite ? placeItself(path) : place;
}

/** Returns the place of the path itself: a link to a file is replaced, as it may lead out of the root. */
function unfollowed(path: string): Place {
  const place = placeItself(path);
  if (!place.status?.isSymbolicLink()) return place;
  const target = statSync(path, { throwIfNoEntry: false });
  return target?.isDirectory() ? { path, status: target } : place;
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** Writes to a file, and names it in errors as its sender does. `target` is its path, with no link at its end. */
function fileSink(
  contained: ContainedPlace,
  target: string,
  name: string,
  file: AtomicFile,
  claim: Claim | undefined,
): StreamTaker {
  const { path } = contained;
  const failing = (action: string) => (error: unknown): never => {
    throw storageFailure(action, path, name, error);
  };
  const [notWritten, notCompleted] = [failing("write"), failing("complete")];
  let isHeld = true;
  const release = (): void => {
    if (isHeld) contained.release();
    isHeld = false;
  };
  return {
    path,
    get place() {
      const place = join(realPath(dirname(target)), basename(target));
      return process.platform !== "linux" || ignoresCase(file) ? foldedName(place) : place;
    },
    write: (pieces) => file.writev(pieces).catch(notWritten),
    end: () => file.end().catch(notCompleted),
    async commit(made) {
      await takePlace(contained, claim, (before) => commitFile(file, { made, before, path }).catch(notCompleted));
      release();
    },
    async discard() {
      await file.discard().catch(() => {}); // the reason of the discard is being thrown already
      release();
    },
    writeStream: (stream) =>
      file.writeStream(stream).catch((error) => {
        // Errors of the file system have a `syscall`; those without one are of the connection.
        return typeof error?.syscall === "string" ? notWritten(error) : Promise.reject(leftError(error));
      }),
    size: () => file.size,
  };
}

/** The system errors that are reported to the sender, and their codes. */
const codes: Readonly<Record<string, UploadErrorCode>> = {
  EDQUOT: "NO_SPACE",
  EEXIST: "EXISTS",
  EFBIG: "NO_SPACE",
  ENOSPC: "NO_SPACE",
};

/** Returns the error to report for one of the file system; senders see errors that have `name` in place of the path. */
export function storageFailure(action: string, path: string, name: string, error: unknown): Error {
  const failure = fileFailure(action, name, error);
  const code = codes[String((failure as { code?: unknown }).code)];
  return code === undefined
    ? fileFailure(action, path, error)
    : new UploadError(code, failure.message, { cause: error });
}
