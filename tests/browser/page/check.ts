import type * as millrace from "../../../mod.ts";

/** The package as the page imports it. */
export type Library = typeof millrace;

/** A check of a feature in a browser. */
export interface Check {
  /** A sentence about it. */
  readonly name: string;
  /** Performs the check and returns a short description; rejects if it fails. */
  readonly run: (library: Library) => Promise<string>;
}

/** The outcome of a check, as the table shows it. */
export interface Row {
  readonly name: string;
  readonly passed: boolean;
  /** The values the check saw, or its error. */
  readonly seen: string;
}

/** @throws {TypeError} if `actual` is not the same as `expected`, written as JSON. */
export function assertEqual(actual: unknown, expected: unknown): void {
  const [is, should] = [actual, expected].map((value) => JSON.stringify(value) ?? String(value));
  if (is !== should) throw new TypeError(`${shortened(is!)} is not ${shortened(should!)}`);
}

/** Waits for the error that `promise` rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  const fulfilled = promise.then(() => new TypeError("there was no error"));
  return await fulfilled.then((missing) => Promise.reject(missing), (error: Error) => error);
}

/** Runs checks one after the other. */
export async function runChecks(checks: readonly Check[], library: Library): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, run } of checks) {
    const outcome = await run(library).then(
      (seen) => ({ name, passed: true, seen }),
      (error) => ({ name, passed: false, seen: `${error}\n${error?.stack}` }),
    );
    rows.push(outcome);
  }
  return rows;
}

function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}… (${text.length} characters)`;
}
