import type { EventData, TestsStream } from "node:test";
import { resolve } from "node:path";
import { inspect } from "node:util";

/** A test or file that failed, as {@link report} writes it, a line each. */
export interface FailureLine {
  readonly name: string;
  readonly place: string | undefined;
  readonly report: string;
}

/** The counts of a whole run, the last line of {@link report}. */
export interface SummaryLine {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * The time in ms for which a process may outlive its last test. A timer or connection that keeps it longer is a fault:
 * limits of five minutes are usual, for which a lane of the tests then waits.
 */
export const LONGEST_END = 120_000;

/**
 * A reporter for `node --test` that writes failures with their errors and causes, and the closing counts, as JSON. Files
 * run one after the other.
 */
export default async function* report(events: TestsStream): AsyncGenerator<string> {
  const printed = new Map<string, string>();
  let lastTest = Infinity;
  let outlived = 0;
  for await (const { type, data } of events) {
    if (type === "test:pass" || type === "test:fail") lastTest = performance.now();
    if (type === "test:stderr") {
      const { file, message } = data as EventData.TestStderr;
      const path = resolve(file); // a failure names the whole path, this event that of the command line
      printed.set(path, ((printed.get(path) ?? "") + message).slice(-4000));
    } else if (type === "test:fail") {
      const line = failureLine(data as EventData.TestFail, printed);
      if (line !== undefined) yield `${JSON.stringify(line)}\n`;
    } else if (type === "test:summary" && (data as EventData.TestSummary).file !== undefined) {
      const time = performance.now() - lastTest;
      if (time < LONGEST_END) continue;
      outlived++;
      const { file } = data as { file: string };
      const report = `Something kept the process for ${Math.round(time / 1000)} s after its last test`;
      const line: FailureLine = { name: `${file} ends soon after its last test`, place: `${file}:1`, report };
      yield `${JSON.stringify(line)}\n`;
    } else if (type === "test:summary") {
      const { tests, passed, skipped, todo } = (data as EventData.TestSummary).counts;
      const line: SummaryLine = { passed, failed: tests - passed - skipped - todo + outlived, skipped: skipped + todo };
      yield `${JSON.stringify(line)}\n`;
    }
  }
}

function failureLine(
  { name, file = "", line, todo, details: { error } }: EventData.TestFail,
  printed: ReadonlyMap<string, string>,
): FailureLine | undefined {
  // Suites fail, too, if a test in them does.
  if ((error as { failureType?: string }).failureType === "subtestsFailed") return undefined;
  if (todo !== undefined && todo !== false) return undefined;
  // All that the runner knows of a file that does not load or ends early; the reason is what it printed.
  const report = String(error.cause) === "test failed"
    ? printed.get(file) || "test failed"
    : inspect(error.cause ?? error, { depth: 4 });
  return { name, place: file === "" ? undefined : `${file}:${line}`, report };
}
