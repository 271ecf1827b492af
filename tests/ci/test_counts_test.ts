import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { junitCounts, nodeCounts, shortened } from "../../.ci/test_counts.ts";
import report, { LONGEST_END } from "../../.ci/node_reporter.ts";
import { FakeClock } from "../support/fake_clock.ts";
import { root, runtime } from "../support/runtime.ts";
import { inFolder } from "../support/folders.ts";

const SOURCE = `
import assert from "node:assert/strict";
import test, { describe } from "node:test";
test("passes", () => {});
test("is skipped", { skip: true }, () => {});
test("is to do", { todo: true }, () => assert.fail());
describe("a suite", () => {
  test("differs", () => assert.deepEqual({ one: 1, two: 2 }, { one: 1, two: "II" }));
});
test("has a cause", () => {
  throw new TypeError("first line\\nsecond line", { cause: new RangeError("the cause") });
});
`;

test("nodeCounts() reads the counts and whole errors of node --test", {
  skip: runtime !== "node" && "it runs Node, whichever runs it",
}, () =>
  inFolder(async (folder) => {
    const file = join(folder, "fails_test.mjs");
    await writeFile(file, SOURCE);
    const env: NodeJS.ProcessEnv = { ...process.env };
    delete env.NODE_TEST_CONTEXT; // it would report to the runner of this test
    const args = ["--test", "--test-reporter=./.ci/node_reporter.ts", file];
    const { stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8", timeout: 60_000 });
    const { failures, ...counts } = nodeCounts(stdout);
    assert.deepEqual(counts, { passed: 1, failed: 2, skipped: 2 });
    assert.deepEqual(failures.map(({ name }) => name.replace(folder, "")), [
      "differs (/fails_test.mjs:8)",
      "has a cause (/fails_test.mjs:10)",
    ]);
    assert.deepEqual(failures.map((failure) => failure.file), [file, file]);
    const [differs, cause] = failures.map(({ report }) => report);
    assert.match(differs, /^\+ +two: 2\n- +two: 'II'$/m);
    assert.match(differs, /at .*fails_test\.mjs:8:/);
    assert.match(cause, /TypeError.*: first line\nsecond line\n/);
    assert.match(cause, /\[cause\]: RangeError.*: the cause/);
  }));

test("a process of Node that outlives its last test by minutes has failed", async () => {
  const counts = { tests: 2, passed: 2, skipped: 0, todo: 0 };
  const lines = async (end: number): Promise<string> => {
    using clock = new FakeClock();
    async function* events(): AsyncGenerator<unknown> {
      for (const name of ["one", "two"]) {
        yield { type: "test:pass", data: { name, file: "/a_test.ts" } };
        clock.turn(end / 2);
      }
      clock.turn(end / 2);
      yield { type: "test:summary", data: { file: "/a_test.ts", counts } };
      yield { type: "test:summary", data: { counts } };
    }
    return (await Array.fromAsync(report(events() as never))).join("");
  };
  assert.deepEqual(nodeCounts(await lines(LONGEST_END - 1)), { passed: 2, failed: 0, skipped: 0, failures: [] });
  const { failures, failed } = nodeCounts(await lines(LONGEST_END));
  assert.deepEqual([failed, failures.map(({ file }) => file)], [1, ["/a_test.ts"]]);
  assert.match(failures[0].report, /kept the process for 120 s/);
});

test("nodeCounts() refuses a report that was cut short", () => {
  assert.throws(() => nodeCounts('{"name":"a","report":"b"}\n'), /no closing counts/);
});

test("junitCounts() counts empty, failed and skipped cases, whatever their names and messages hold", () => {
  const report = `<testsuites><testsuite name="a">
    <testcase name="in &lt;failure> &quot;x&quot;" line="1" />
    <testcase name="bad"><failure message="&lt;/testcase>">x &lt;/testcase&gt;</failure></testcase>
    <testcase name="later"><skipped /></testcase>
    <testcase name="open" time="0.1">
    </testcase>
  </testsuite></testsuites>`;
  assert.deepEqual(junitCounts(report), {
    passed: 2,
    failed: 1,
    skipped: 1,
    failures: [{ name: "bad (</testcase>)", report: "x </testcase>", file: undefined }],
  });
});

test("junitCounts() does not count a describe() beside the tests in it", () => {
  const report = `<testsuites><testsuite>
    <testcase name="outer"><failure message="1 test step failed"/></testcase>
    <testcase name="outer &gt; good"></testcase>
    <testcase name="outer &gt; bad"><failure/></testcase>
  </testsuite></testsuites>`;
  assert.deepEqual(junitCounts(report), {
    passed: 1,
    failed: 1,
    skipped: 0,
    failures: [{ name: "outer > bad", report: "", file: undefined }],
  });
});

test("junitCounts() keeps all lines of a failure, of which its name has the first", () => {
  const message = "AssertionError: differ:&#10;+ &quot;a&quot;\n- 1";
  const report = `<testsuites><testcase name="a"><failure message="${message}">${message}
    at a_test.ts:1</failure></testcase></testsuites>`;
  assert.deepEqual(junitCounts(report).failures, [
    {
      name: "a (AssertionError: differ:)",
      report: 'AssertionError: differ:\n+ "a"\n- 1\n    at a_test.ts:1',
      file: undefined,
    },
  ]);
});

test("junitCounts() knows the file of a failure, as Bun and as Deno tell it", () => {
  const [bun, deno] = ['classname="a suite" file="tests/a_test.ts"', 'classname="./tests/a_test.ts"'];
  for (const attributes of [bun, deno]) {
    const report = `<testsuites><testcase name="a" ${attributes}><failure/></testcase></testsuites>`;
    assert.deepEqual(junitCounts(report).failures, [{ name: "a", report: "", file: "tests/a_test.ts" }]);
  }
});

test("junitCounts() knows the file of a failure in a describe() on Deno, unless two files have one of that name", () => {
  const bad = '<testcase name="outer &gt; bad" classname="ext:deno_node/testing.ts"><failure/></testcase>';
  const suites = ["a", "b"].map((name) => `<testcase name="outer" classname="./tests/${name}_test.ts"></testcase>`);
  const fileIn = (cases: string): string | undefined => {
    return junitCounts(`<testsuites>${cases}</testsuites>`).failures[0].file;
  };
  assert.equal(fileIn(suites[0] + bad), "tests/a_test.ts");
  assert.equal(fileIn(suites.join("") + bad), undefined);
});

test("shortened() keeps the first lines of a report", () => {
  const lines = Array.from({ length: 70 }, (_, i) => `line ${i}`);
  assert.equal(shortened(lines.slice(0, 60).join("\n") + "\n"), lines.slice(0, 60).join("\n"));
  assert.equal(shortened(lines.join("\n")), [...lines.slice(0, 59), "… (11 more lines)"].join("\n"));
  assert.equal(shortened("x".repeat(1000)).length, 300);
});

test("junitCounts() refuses a report that was cut short", () => {
  assert.throws(() => junitCounts("<testsuites><testsuite>"), /no <\/testsuites>/);
});
