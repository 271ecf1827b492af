import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { differencesHere } from "./wpt/differences.ts";
import { compareFetch } from "./wpt/run_fetch.ts";

const root = process.env.WPT_FETCH_ROOT;

test("a client's fetch passes all that the runtime's own passes of the web platform tests, but for named differences", {
  skip: root ? false : "WPT_FETCH_ROOT names no folder with the web platform tests of fetch",
  timeout: 1_800_000,
}, async () => {
  const { native, ours, messages } = await compareFetch(root!);
  const lost = [...native].filter(([name, passed]) => passed && !ours.get(name)).map(([name]) => name);
  // What is beside subtests, such as a rejection that nobody handles, has no name that both have.
  const faults = [...ours].filter(([name, passed]) => !passed && name.includes(": fault: ") && !native.has(name))
    .map(([name]) => name);
  const count = (results: Map<string, boolean>): number => [...results.values()].filter((passed) => passed).length;
  console.log(`native: ${count(native)} of ${native.size} subtests; ours: ${count(ours)} of ${ours.size}`);
  const unexpected = [...lost, ...faults].filter((name) => !differencesHere.some(({ test }) => test.test(name)));
  assert.deepEqual(unexpected.map((name) => `${name} ${messages.get(name) ?? ""}`), [], "not known");
  const mended = differencesHere.filter(({ test }) => ![...lost, ...faults].some((name) => test.test(name)));
  assert.deepEqual(mended.map(({ test }) => test), [], "known, and not there any more");
  assert.ok(count(ours) > 800, "hardly any test ran");
});
