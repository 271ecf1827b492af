import { constants } from "node:os";

/** What the system's codes mean, in words. */
const meanings: Readonly<Record<string, string>> = {
  EACCES: "permission is denied",
  EDQUOT: "the user's disk quota is used up",
  EEXIST: "there is a file of that name already",
  EFBIG: "the file would be larger than the file system or the process may make it",
  EIO: "the device has failed",
  EISDIR: "it is a directory",
  ELOOP: "its symbolic links lead in a circle",
  EMFILE: "the process has too many files open",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "the system has too many files open",
  ENOENT: "the directory is missing",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "a part of the path is a file, not a directory",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
};

/** The system's error behind each one that names its file. */
const causes = new WeakMap<Error, unknown>();

/**
 * What the file system says, in words that name the file: with the system's `code`, and its error for the cause. Of an error
 * that was told so already, its cause is told.
 *
 * @param action What failed, as in "Cannot write".
 */
export function fileFailure(action: string, path: string, error: unknown): Error {
  const cause = causes.has(error as Error) ? causes.get(error as Error) : error;
  const code = codeOf(cause);
  const words = code === undefined ? undefined : meaningOf(code, action);
  const reason = words === undefined ? messageOf(cause) : `${words} (${code})`;
  const failure = new Error(`Cannot ${action} ${path}: ${reason}`, { cause });
  causes.set(failure, cause);
  withoutFrames(failure, fileFailure);
  return code === undefined ? failure : Object.assign(failure, { code });
}

function meaningOf(code: string, action: string): string | undefined {
  return code === "ENOENT" && action === "read" ? "there is no such file" : meanings[code];
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code === "string") return code;
  // Deno has some errors that only their words tell, as in "File too large (os error 27)".
  const number = Number(/\(os error (\d+)\)$/.exec(messageOf(error))?.[1]);
  return Object.entries(constants.errno).find(([, known]) => known === number)?.[0];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Leaves out of the stack of `error` the frames of `inner`, which must be under way, and of what it has called: they tell
 * users nothing, and engines keep ten frames.
 */
export function withoutFrames<E extends Error>(error: E, inner: (...args: never[]) => unknown): E {
  Error.captureStackTrace?.(error, inner);
  return error;
}
