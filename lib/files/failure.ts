import { constants } from "node:os";
import process from "node:process";

const meanings: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EBUSY: "it is in use, or a mount point, which no other file replaces",
  EDQUOT: "the user's disk quota is used up",
  EEXIST: "there is a file of that name already",
  EFBIG: "the file would be larger than the file system or the process may make it",
  EIO: "the device has failed",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle, or may not be followed",
  EMFILE: "the process has too many files open",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "the system has too many files open",
  ENOENT: "the directory is missing",
  "ENOENT complete": "the directory, or the temporary file in it, is gone",
  "ENOENT read": "there is no such file",
  "ENOENT write over": "there is no such file",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "a part of the path is a file, not a directory",
  ENXIO: "the pipe has no reader, or the device is missing",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
};

/** Words of a caller's own, by the system's code. */
type Words = Readonly<Record<string, string>>;

/** Codes of a disk that is full. */
export const FULL: readonly unknown[] = ["ENOSPC", "EDQUOT"];

/** Returns the system's code of an error; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  if (typeof code === "string") return code;
  // Deno has some errors that only their words tell, as in "File too large (os error 27)".
  const number = Number(/\(os error (\d+)\)$/.exec(messageOf(error))?.[1]);
  return Object.entries(constants.errno).find(([, known]) => known === number)?.[0];
}

export function wordsOf(code: string): string | undefined {
  return Object.hasOwn(meanings, code) ? meanings[code] : undefined;
}

/**
 * Returns the reason for which the file system refused, in words; the message of an error without a known code.
 *
 * @param own Words that say more where the caller knows what is in the way; they go before those of all.
 * @param hint What to do about it.
 */
export function reasonOf(error: unknown, own: Words = {}, hint: Words = {}): string {
  const code = codeOf(error) ?? "";
  const message = Object.hasOwn(own, code) ? own[code] : wordsOf(code);
  if (message === undefined) return messageOf(error);
  return Object.hasOwn(hint, code) ? `${message}: ${hint[code]}` : message;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system's error behind each one that names its file. */
const causes = new WeakMap<Error, unknown>();

/**
 * Returns a file system error whose message names the file, with the system's `code`, and its error as the cause. An
 * error that was made here already is replaced by one for its cause.
 *
 * @param action What failed, as in "Cannot write".
 */
export function fileFailure(action: string, path: string, error: unknown): Error {
  const cause = causes.has(error as Error) ? causes.get(error as Error) : error;
  const code = codeOf(cause);
  const message = wordsOf(`${code} ${action}`) ?? wordsOf(code ?? "");
  const reason = message === undefined ? messageOf(cause) : `${message} (${code})`;
  const failure = new Error(`Cannot ${action} ${path}: ${reason}`, { cause });
  causes.set(failure, cause);
  withoutFrames(failure, fileFailure);
  return code === undefined ? failure : Object.assign(failure, { code });
}

/** Returns a function for `catch()` that throws {@linkcode fileFailure}. */
export function failing(action: string, path: string): (error: unknown) => never {
  return (error) => {
    throw fileFailure(action, path, error);
  };
}

/** Makes a call. @throws {Error} {@linkcode fileFailure} of what that throws. */
export function failingNow<T>(action: string, path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fileFailure(action, path, error);
  }
}

/**
 * Leaves out of the stack of `error` the frames of `inner`, which must be under way, and of what it has called: they tell
 * users nothing, and engines keep ten frames.
 */
export function withoutFrames<E extends Error>(error: E, inner: (...args: never[]) => unknown): E {
  Error.captureStackTrace?.(error, inner);
  return error;
}

/**
 * Tells of something that is not as it should be, and fails nothing.
 *
 * @param onWarning Called with the error; what it throws is a warning, too. Undefined: the process warns of the error.
 */
export function warn(onWarning: ((error: Error) => void) | undefined, error: Error): void {
  if (onWarning === undefined) return process.emitWarning(error);
  try {
    onWarning(error);
  } catch (thrown) {
    process.emitWarning(thrown instanceof Error ? thrown : `onWarning has thrown ${String(thrown)}`);
  }
}
