/**
 * The results of a third-party test run, by the names of tests: whether each passed. Skipped tests are left out.
 *
 * @module
 */
export type Cases = ReadonlyMap<string, boolean>;

/** Two cases of one name count as one, which passes if both do. */
function add(cases: Map<string, boolean>, name: string, passed: boolean): void {
  cases.set(name, (cases.get(name) ?? true) && passed);
}

/** Reads the Test Anything Protocol, as node:test and ava write it. */
export function tapCases(report: string): Cases {
  const cases = new Map<string, boolean>();
  for (const [, not, name, directive = ""] of report.matchAll(/^ *(not )?ok \d+ - (.*?)(?: # (.*))?$/gm)) {
    if (!/^(TODO|SKIP)/i.test(directive)) add(cases, name, not === undefined);
  }
  return cases;
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** Reads the report of vitest's reporter `json`; names begin with the file's path below `folder`. */
export function vitestCases(report: string, folder: string): Cases {
  const cases = new Map<string, boolean>();
  for (const { name, status, assertionResults } of (JSON.parse(report) as VitestReport).testResults) {
    const file = name.replace(`${folder}/`, "");
    if (assertionResults.length === 0) add(cases, file, status === "passed");
    for (const { fullName, status } of assertionResults) {
      if (status === "passed" || status === "failed") add(cases, `${file}: ${fullName}`, status === "passed");
    }
  }
  return cases;
}

/** Reads JUnit's XML, as Deno writes it. */
export function junitCases(report: string): Cases {
  const cases = new Map<string, boolean>();
  for (const [, attributes, end, body = ""] of report.matchAll(/<testcase ([^>]*?)(\/>|>([\s\S]*?)<\/testcase>)/g)) {
    const [name, file] = ["name", "classname"].map((key) => new RegExp(`\\b${key}="([^"]*)"`).exec(attributes)?.[1]);
    if (!body.includes("<skipped")) add(cases, `${file}: ${name}`, end === "/>" || !/<(failure|error)/.test(body));
  }
  return cases;
}

/** Returns the cases that pass in one run but not in the other, in the order of the first. */
export function lost(before: Cases, after: Cases): string[] {
  return [...before].flatMap(([name, passed]) => passed && after.get(name) !== true ? [name] : []);
}
