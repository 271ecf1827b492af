import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import {
  commitFile,
  compatibleName,
  fileFailure,
  foldedName,
  followedPlace,
  openAtomicFileAt,
  type Place,
  placeItself,
  realPath,
  removeAbandonedOnce,
  temporaryOf,
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
  /** The path of the file before its commit. */
  readonly temporary?: string;
  /** The path with resolved links, in a form that all names of a file have on its disk. */
  readonly place?: string;
  /** Appends all bytes; once it fulfils, the memory of the pieces may be reused. */
  write(pieces: readonly Uint8Array[]): Promise<void>;
  /** Ends the writing: flushes the file with the option `flush`, and closes it. The file has no name yet. */
  end(): Promise<void>;
  /** Gives the file its name, after {@linkcode end}, and adds its undo to `made`, if it can be undone. */
  commit(made?: Undoable[]): Promise<void>;
  /** Removes the file, before or after {@linkcode end}. Never rejects. */
  discard(reason: unknown): Promise<void>;
}

/** A sink that takes a whole stream at once, whose bytes do not pass through JavaScript. */
export interface StreamTaker extends BodySink {
  /** Writes a whole stream, which can only be {@linkcode discard}ed, not stopped. @throws {UploadError} `ABORTED`. */
  writeStream(stream: ReadableStream<Uint8Array>): Promise<number>;
  size(): number;
}

export type FileOptions = Pick<SaveBodyOptions, "root" | "overwrite" | "mode" | "flush"> & {
  readonly claim?: Claim | undefined;
};

/** Opens a file that appears when it is committed; closing it also closes `contained`. Errors for the sender contain `name`. */
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

/** Returns the place that links lead to. A dangling link counts as an existing file unless `overwrite` is set. */
function followed(path: string, { overwrite }: FileOptions): Place {
  const place = followedPlace(path);
  const isDangling = place.status === undefined && place.path !== path;
  return isDangling && !overwrite ? placeItself(path) : place;
}

/** Returns the place of the path itself: a link to a file is replaced, since its target may be outside the root. */
function unfollowed(path: string): Place {
  const place = placeItself(path);
  if (!place.status?.isSymbolicLink()) return place;
  const target = statSync(path, { throwIfNoEntry: false });
  return target?.isDirectory() ? { path, status: target } : place;
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}

/** Final full stops and spaces of the parts of a path, which vfat drops. */
const ENDS = /(?<![. ])[. ]+(?=\/|$)/g;
/** The distance of a character's full-width form, which is the same in the form NFKC. */
const FULL_WIDTH = 0xfee0;

/** Returns a path in the form that its disk gives names, as the temporary file shows; canonical forms are one name. */
function placeOf(path: string, temporary: string): string {
  const isFoundAs = (change: (name: string) => string): boolean =>
    existsSync(join(dirname(temporary), change(basename(temporary))));
  let place = path.normalize("NFC");
  if (place.search(ENDS) !== -1 && isFoundAs((name) => `${name}.`)) place = place.replace(ENDS, "");
  const wide = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) + FULL_WIDTH);
  const isCompatible = compatibleName(place) !== place && isFoundAs((name) => name.replace(/[a-z]/, wide));
  if (isCompatible) place = compatibleName(place);
  const ignoresCase = process.platform !== "linux" || isFoundAs((name) => name.toUpperCase());
  return ignoresCase ? foldedName(place) : place;
}

/** Returns a sink for a file at `target`, whose last part is not a link. Errors contain the sender's name of the file. */
function fileSink(
  contained: ContainedPlace,
  target: string,
  name: string,
  file: AtomicFile,
  claim: Claim | undefined,
): StreamTaker {
  const { path } = contained;
  const temporary = temporaryOf(file);
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
    temporary,
    get place() {
      return placeOf(join(realPath(dirname(target)), basename(target)), temporary);
    },
    write: (pieces) => file.writev(pieces).catch(notWritten),
    end: () => file.end().catch(notCompleted),
    async commit(made) {
      await takePlace(contained, claim, (before) => commitFile(file, { made, before, path }).catch(notCompleted));
      release();
    },
    async discard() {
      await file.discard().catch(() => {}); // the reason of the discard is already being thrown
      release();
    },
    writeStream: (stream) =>
      file.writeStream(stream).catch((error) => {
        // Errors of the file system have a `syscall`; others come from the connection.
        return typeof error?.syscall === "string" ? notWritten(error) : Promise.reject(leftError(error));
      }),
    size: () => file.size,
  };
}

const codes: Readonly<Record<string, UploadErrorCode>> = {
  EDQUOT: "NO_SPACE",
  EEXIST: "EXISTS",
  EFBIG: "NO_SPACE",
  ENOSPC: "NO_SPACE",
};

/** Returns the error for the sender if a disk or quota is full, whichever file it is of; undefined for other errors. */
export function shortage(error: unknown): UploadError | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  if (codes[String(code)] !== "NO_SPACE") return undefined;
  return new UploadError("NO_SPACE", fileFailure("save", "the upload", error).message, { cause: error });
}

/** The system calls that name a file. A disk of Windows refuses names with `EINVAL`, on other systems, too. */
const naming: ReadonlySet<unknown> = new Set(["link", "rename"]);

/** Returns the error to report for a file system error; in senders' errors, `name` replaces the path. */
export function storageFailure(action: string, path: string, name: string, error: unknown): Error {
  const failure = fileFailure(action, name, error);
  const { code } = failure as { code?: unknown };
  if (code === "EINVAL" && naming.has((failure.cause as { syscall?: unknown }).syscall)) {
    return new UploadError("BAD_NAME", `Cannot save ${name}: the disk takes no file of that name`, { cause: error });
  }
  const known = codes[String(code)];
  return known === undefined
    ? fileFailure(action, path, error)
    : new UploadError(known, failure.message, { cause: error });
}
