import assert from "node:assert/strict";
import test from "node:test";
import { junitCounts, tapCounts } from "../../.ci/test_counts.ts";

test("tapCounts() reads the closing lines and counts cancelled tests as failed", () => {
  const report = "1..4\n# tests 7\n# suites 1\n# pass 2\n# fail 2\n# cancelled 1\n# skipped 1\n# todo 1\n";
  assert.deepEqual(tapCounts(report), { passed: 2, failed: 3, skipped: 2, failures: [] });
});

test("tapCounts() names the tests that failed, and no suite for them", () => {
  const report = `# Subtest: suite
    not ok 1 - inner
      ---
      location: '/tests/a_test.ts:2:81'
      failureType: 'testCodeFailure'
      error: 'not ok 2 - no'
      ...
not ok 1 - suite
  ---
  location: '/tests/a_test.ts:1:1'
  failureType: 'subtestsFailed'
  ...
# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n`;
  assert.deepEqual(tapCounts(report).failures, ["inner (/tests/a_test.ts:2:81)"]);
});

test("tapCounts() refuses a report that was cut short", () => {
  assert.throws(() => tapCounts("ok 1 - a\nok 2 - b\n"), /no line "# pass N"/);
});

test("junitCounts() counts empty, failed and skipped cases, whatever their names and messages hold", () => {
  const report = `<testsuites><testsuite name="a">
    <testcase name="in &lt;failure> &quot;x&quot;" line="1" />
    <testcase name="bad"><failure message="&lt;/testcase>">x &lt;/testcase&gt;</failure></testcase>
    <testcase name="later"><skipped /></testcase>
    <testcase name="open" time="0.1">
    </testcase>
  </testsuite></testsuites>`;
  assert.deepEqual(junitCounts(report), { passed: 2, failed: 1, skipped: 1, failures: ["bad (</testcase>)"] });
});

test("junitCounts() does not count a describe() beside the tests in it", () => {
  const report = `<testsuites><testsuite>
    <testcase name="outer"><failure message="1 test step failed"/></testcase>
    <testcase name="outer &gt; good"></testcase>
    <testcase name="outer &gt; bad"><failure/></testcase>
  </testsuite></testsuites>`;
  assert.deepEqual(junitCounts(report), { passed: 1, failed: 1, skipped: 0, failures: ["outer > bad"] });
});

test("junitCounts() refuses a report that was cut short", () => {
  assert.throws(() => junitCounts("<testsuites><testsuite>"), /no <\/testsuites>/);
});
