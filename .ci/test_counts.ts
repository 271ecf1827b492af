/** What a test run came to. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** The names of tests that failed, each with where it is or what its error says. */
  failures: string[];
}

/**
 * Reads the closing counts of a TAP report of `node --test`, and the tests that failed.
 *
 * @throws {TypeError} if the report has no closing counts, as when the run was cut short.
 */
export function tapCounts(report: string): Counts {
  const count = (name: string): number => {
    const found = report.match(new RegExp(`^# ${name} (\\d+)$`, "m"));
    if (!found) throw new TypeError(`the report has no line "# ${name} N"`);
    return Number(found[1]);
  };
  // Suites fail, too, if a test in them does.
  const failed = [...report.matchAll(/^ *not ok \d+ - (.*)\n *---\n([\s\S]*?)\n *\.\.\.$/gm)]
    .filter(([, , details]) => !/^ *failureType: 'subtestsFailed'$/m.test(details));
  return {
    passed: count("pass"),
    failed: count("fail") + count("cancelled"),
    skipped: count("skipped") + count("todo"),
    failures: failed.map(([, name, details]) => named(name, details.match(/^ *location: '(.*)'$/m)?.[1])),
  };
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
    .map(([, attributes, body = ""]) => ({ name: attributes.match(/\bname="([^"]*)"/)?.[1] ?? "", body }));
  // Deno lists a describe() among its tests, as "suite", "suite &gt; test".
  const parents = new Set(
    cases.flatMap(({ name }) => [...name.matchAll(/ &gt; /g)].map(({ index }) => name.slice(0, index))),
  );
  const counts: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const { name, body } of cases) {
    if (parents.has(name)) continue;
    if (/<(failure|error)\b/.test(body)) {
      counts.failed++;
      counts.failures.push(unescaped(named(name, body.match(/\bmessage="([^"\n]*)/)?.[1])));
    } else if (/<skipped\b/.test(body)) counts.skipped++;
    else counts.passed++;
  }
  return counts;
}

function named(name: string, hint: string | undefined): string {
  return hint ? `${name} (${hint})` : name;
}

/** Text of XML as it is read. */
function unescaped(text: string): string {
  const marks: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", "#10": " ", amp: "&" };
  return text.replace(/&([a-z]+|#10);/g, (reference, name) => marks[name] ?? reference);
}
