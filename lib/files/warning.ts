import process from "node:process";

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
