import assert from "node:assert/strict";
import process from "node:process";
import test from "node:test";
import { differencesHere } from "./wpt/differences.ts";
import { compareFetch, lostIn } from "./wpt/run_fetch.ts";

const root = process.env.WPT_FETCH_ROOT;
/** The number of further runs of a file with an unknown difference. */
const AGAIN = 2;

const isKnown = (name: string): boolean => differencesHere.some(({ test }) => test.test(name));

/** Returns unknown differences that show again, with their message; those that depend on timing are printed. */
async function shownAgain(messages: ReadonlyMap<string, string>): Promise<string[]> {
  const again = new Set<string>();
  for (const file of new Set([...messages.keys()].map((name) => name.split(": ")[0]!))) {
    for (let i = 0; i < AGAIN; i++) {
      const names = lostIn(await compareFetch(root!, file));
      for (const name of names) if (messages.has(name)) again.add(name);
    }
  }
  for (const [name, message] of messages) if (!again.has(name)) console.log(`seen once only: ${name} ${message}`);
  return [...again].map((name) => `${name} ${messages.get(name)}`);
}

test("a client's fetch passes all that the runtime's own passes of the web platform tests, but for named differences", {
  skip: root ? false : "WPT_FETCH_ROOT names no folder with the web platform tests of fetch",
  timeout: 1_800_000,
}, async () => {
  const comparison = await compareFetch(root!);
  const { native, ours, messages } = comparison;
  const lost = lostIn(comparison);
  const count = (results: Map<string, boolean>): number => [...results.values()].filter((passed) => passed).length;
  console.log(`native: ${count(native)} of ${native.size} subtests; ours: ${count(ours)} of ${ours.size}`);
  const unknown = lost.filter((name) => !isKnown(name)).map((name) => [name, messages.get(name) ?? ""] as const);
  assert.deepEqual(await shownAgain(new Map(unknown)), [], "not known");
  const mended = differencesHere.filter(({ test }) => !lost.some((name) => test.test(name)));
  assert.deepEqual(mended.map(({ test }) => test), [], "known, and not there any more");
  assert.ok(count(ours) > 800, "hardly any test ran");
});
