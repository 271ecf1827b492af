import { codeOf, messageOf, wordsOf } from "./errno.ts";

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
  const words = code === undefined ? undefined : meaningOf(code, action);
  const reason = words === undefined ? messageOf(cause) : `${words} (${code})`;
  const failure = new Error(`Cannot ${action} ${path}: ${reason}`, { cause });
  causes.set(failure, cause);
  withoutFrames(failure, fileFailure);
  return code === undefined ? failure : Object.assign(failure, { code });
}

function meaningOf(code: string, action: string): string | undefined {
  return code === "ENOENT" && action === "read" ? "there is no such file" : wordsOf(code);
}

/**
 * Leaves out of the stack of `error` the frames of `inner`, which must be under way, and of what it has called: they tell
 * users nothing, and engines keep ten frames.
 */
export function withoutFrames<E extends Error>(error: E, inner: (...args: never[]) => unknown): E {
  Error.captureStackTrace?.(error, inner);
  return error;
}
