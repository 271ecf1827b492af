import type { FailureLine, SummaryLine } from "./node_reporter.ts";

/** The results of a test run. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  failures: Failure[];
}

/** A test that failed. */
export interface Failure {
  /** The test's name, with its place or the first line of its error. */
  readonly name: string;
  /** All that its runtime reports of the error: message, difference, stack and cause. */
  readonly report: string;
  /** The test file as its runtime names it, sometimes by a whole path; undefined if it is not reported. */
  readonly file: string | undefined;
}

/**
 * Reads what `.ci/node_reporter.ts` writes.
 *
 * @throws {TypeError} if the report has no closing counts, as when the run was cut short.
 */
export function nodeCounts(report: string): Counts {
  const lines = report.split("\n").filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as FailureLine | SummaryLine);
  const summary = lines.find((line) => "passed" in line);
  if (summary === undefined) throw new TypeError("the report has no closing counts");
  const failures = lines.filter((line) => "report" in line)
    .map(({ name, place, report }) => ({ name: named(name, place), report, file: place?.replace(/:\d+$/, "") }));
  return { ...summary, failures };
}

/**
 * Counts the test cases of a JUnit report of `bun test` or `deno test`.
 *
 * @throws {TypeError} if the report is not complete.
 */
export function junitCounts(report: string): Counts {
  if (!report.includes("</testsuites>")) throw new TypeError("the report has no </testsuites>");
  // A test case is either empty, `<testcase … />`, or holds what happened to it.
  const cases = [...report.matchAll(/<testcase\b((?:[^>"]|"[^"]*")*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)]
    .map(([, attributes, body = ""]) => ({
      name: attributes.match(/\bname="([^"]*)"/)?.[1] ?? "",
      // Deno has the file in the place of a class.
      file: (attributes.match(/\bfile="([^"]+)"/) ?? attributes.match(/\bclassname="([^"]+)"/))?.[1],
      body,
    }));
  // Deno lists a describe() among its tests, as "suite", "suite &gt; test".
  const parents = new Set(
    cases.flatMap(({ name }) => [...name.matchAll(/ &gt; /g)].map(({ index }) => name.slice(0, index))),
  );
  // The file of a test in a describe() is one of Deno's own modules: the file of the suite is used instead.
  const fileOf = ({ name, file }: typeof cases[number]): string | undefined => {
    if (!file?.startsWith("ext:")) return file;
    const [suite] = name.split(" &gt; ");
    const files = new Set(cases.filter((other) => other.name === suite).map((other) => other.file));
    return files.size === 1 ? [...files][0] : undefined;
  };
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const each of cases) {
    const { name, body } = each;
    if (parents.has(name)) continue;
    const fault = body.match(/<(?:failure|error)\b((?:[^>"]|"[^"]*")*?)(?:\/>|>([\s\S]*))/);
    if (fault) {
      counts.failed++;
      const message = unescaped(fault[1].match(/\bmessage="([^"]*)/)?.[1] ?? "");
      const report = unescaped((fault[2] ?? "").replace(/<\/(?:failure|error)>\s*$/, "")).trim();
      const failure = { name: named(unescaped(name), message.split("\n", 1)[0]), report: report || message };
      const file = fileOf(each);
      counts.failures.push({ ...failure, file: file && unescaped(file).replace(/^\.\//, "") });
    } else if (/<skipped\b/.test(body)) counts.skipped++;
    else counts.passed++;
  }
  return counts;
}

/** Cuts a report to its first lines, none of them too long to read. */
export function shortened(report: string, most = 60): string {
  const lines = report.trimEnd().split("\n").map((line) => line.length > 300 ? `${line.slice(0, 299)}…` : line);
  if (lines.length <= most) return lines.join("\n");
  return [...lines.slice(0, most - 1), `… (${lines.length - most + 1} more lines)`].join("\n");
}

function named(name: string, hint: string | undefined): string {
  return hint ? `${name} (${hint})` : name;
}

/** Text of XML as it is read. */
function unescaped(text: string): string {
  const marks: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", "#10": "\n", amp: "&" };
  return text.replace(/&([a-z]+|#10);/g, (reference, name) => marks[name] ?? reference);
}
