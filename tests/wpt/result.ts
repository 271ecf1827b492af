/** The outcome of a subtest. */
export type Status = "passed" | "failed" | "timed out" | "not run" | "unsupported";

/** A subtest. */
export interface Subtest {
  readonly name: string;
  readonly status: Status;
  /** The harness's message for a failure; empty otherwise. */
  readonly message: string;
}

/** A line that the process of a test file prints. */
export type Line = Subtest | { readonly fault: string } | { readonly done: true };

/** The start of such a line, since tests may print others. */
export const MARK = "wpt: ";

/** The outcome of a test file. */
export interface FileResult {
  readonly file: string;
  readonly subtests: readonly Subtest[];
  /** Failures outside of subtests: the file does not load, an unhandled rejection, a crash, a time-out. */
  readonly faults: readonly string[];
}

/** The totals of many files. */
export interface Totals {
  readonly passed: number;
  /** Subtests that did not pass, and faults. */
  readonly failed: number;
}

/** Counts the passed and the failed subtests; faults outside of subtests count as failed. */
export function totals(results: readonly FileResult[]): Totals {
  const subtests = results.flatMap((result) => result.subtests);
  const passed = subtests.filter(({ status }) => status === "passed").length;
  const faults = results.reduce((sum, result) => sum + result.faults.length, 0);
  return { passed, failed: subtests.length - passed + faults };
}

/** Returns a line for each subtest that did not pass and each fault, with its message. */
export function failures(results: readonly FileResult[]): string[] {
  return results.flatMap(({ file, subtests, faults }) => [
    ...subtests.filter(({ status }) => status !== "passed")
      .map(({ name, status, message }) => `${file}: ${name}: ${status}${message && `: ${message}`}`),
    ...faults.map((fault) => `${file}: ${fault}`),
  ]);
}
