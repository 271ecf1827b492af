import { writeSync } from "node:fs";
import process from "node:process";
import { runInThisContext } from "node:vm";
import { type Line, MARK, type Status } from "./result.ts";
import type { Script } from "./test_file.ts";

/** The functions of testharness.js that are used here. */
interface Harness {
  add_test_state_callback(callback: (test: HarnessTest) => void): void;
  add_result_callback(callback: (test: HarnessTest) => void): void;
  add_completion_callback(callback: (tests: readonly HarnessTest[], outcome: HarnessOutcome) => void): void;
  timeout(): void;
}

interface HarnessOutcome {
  readonly status: number;
  readonly message: string | null;
}

interface HarnessTest extends HarnessOutcome {
  readonly name: string;
}

/** The harness's status after a fatal error. */
const ERROR = 1;
/** The statuses by the numbers of testharness.js. */
const statuses: readonly Status[] = ["passed", "failed", "timed out", "not run", "unsupported"];

/**
 * Runs the scripts of a test file in this process. Writes a line of JSON for each subtest as it ends, for each fault outside of
 * subtests, and at the end, which ends the process.
 *
 * @param seconds How long it may take.
 */
export function runScripts(scripts: readonly Script[], seconds: number): void {
  process.on("unhandledRejection", (reason) => report({ fault: `unhandled rejection: ${explain(reason)}` }));
  process.on("uncaughtException", (error) => report({ fault: `uncaught: ${explain(error)}` }));
  // One turn for all: the harness takes the first microtask as the sign that everything is loaded.
  const [harness, ...tests] = scripts.map(({ path, code }) => () => runInThisContext(code, { filename: path }));
  withoutEvents(harness!);
  listen(globalThis as unknown as Harness, seconds);
  for (const test of tests) test();
}

/**
 * Loads without events, so that an unhandled rejection, which is reported here, does not end the file for the harness
 * on Deno alone.
 */
function withoutEvents(load: () => void): void {
  Object.defineProperty(globalThis, "addEventListener", { value: undefined, configurable: true });
  load();
  delete (globalThis as { addEventListener?: unknown }).addEventListener;
}

function listen(harness: Harness, seconds: number): void {
  const open = new Set<HarnessTest>();
  const tell = (test: HarnessTest): void => {
    open.delete(test);
    report({ name: test.name, status: statuses[test.status] ?? "failed", message: test.message ?? "" });
  };
  harness.add_test_state_callback((test) => open.add(test));
  harness.add_result_callback(tell);
  harness.add_completion_callback((_, { status, message }) => {
    open.forEach(tell); // those that had no end
    if (status === ERROR) report({ fault: message ?? "the harness failed" });
    // Unhandled rejections are reported a little later.
    setTimeout(() => {
      report({ done: true });
      process.exit();
    }, 5);
  });
  setTimeout(() => harness.timeout(), seconds * 1000);
}

/** At once, since the process may be ended in the middle of a test. */
function report(line: Line): void {
  const bytes = new TextEncoder().encode(`\n${MARK}${JSON.stringify(line)}\n`);
  for (let start = 0; start < bytes.length;) {
    try {
      start += writeSync(1, bytes, start);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // the pipe is full
    }
  }
}

function explain(reason: unknown): string {
  return reason instanceof Error ? reason.stack ?? reason.message : String(reason);
}
