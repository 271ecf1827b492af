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

/** The caller's own reasons, by the system's code. */
type Words = Readonly<Record<string, string>>;

/** The codes of a full disk. */
export const FULL: readonly unknown[] = ["ENOSPC", "EDQUOT"];

export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  if (typeof code === "string") return code;
  // Some of Deno's errors have their number only in the message, such as "File too large (os error 27)".
  const number = Number(/\(os error (\d+)\)$/.exec(messageOf(error))?.[1]);
  return Object.entries(constants.errno).find(([, known]) => known === number)?.[0];
}

/** Whether an error means that a path does not exist, for example because a part of it is a file. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/** Returns undefined for an error of a missing path, and throws others: `await stat(path).catch(ignoreMissing)`. */
export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

export function wordsOf(code: string): string | undefined {
  return Object.hasOwn(meanings, code) ? meanings[code] : undefined;
}

/**
 * Returns the reason for which the file system refused, in words; the message of an error without a known code.
 *
 * @param own More specific reasons of the caller, which take precedence over the general ones.
 * @param hint Advice for the user, by code.
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

/** The file system's errors behind those that name their file. */
const causes = new WeakMap<Error, unknown>();

/**
 * Returns a file system error whose message names the file, with the system's `code`, and its error as the cause. If
 * `error` was made here, its cause is used instead.
 *
 * @param action The failed action, such as "Cannot write".
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

/** Runs a call. @throws {Error} {@linkcode fileFailure} of the call's error. */
export function failingNow<T>(action: string, path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw fileFailure(action, path, error);
  }
}

/**
 * Removes the frames of `inner`, which must be running, and of its callees from the stack of `error`: they do not help
 * users, and engines keep only ten frames.
 */
export function withoutFrames<E extends Error>(error: E, inner: (...args: never[]) => unknown): E {
  Error.captureStackTrace?.(error, inner);
  return error;
}

/**
 * Reports a problem that fails no operation.
 *
 * @param onWarning Called with the error; an exception in it is a warning, too. Undefined: a warning of the process.
 */
export function warn(onWarning: ((error: Error) => void) | undefined, error: Error): void {
  if (onWarning === undefined) return process.emitWarning(error);
  try {
    onWarning(error);
  } catch (thrown) {
    process.emitWarning(thrown instanceof Error ? thrown : `onWarning has thrown ${String(thrown)}`);
  }
}
