import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { PathIndex } from "../../../lib/static/scan/found_files.ts";
import { codePoint } from "../../support/code_point.ts";

const path = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 30 }),
  fc.string({ unit: fc.constantFrom("a", "/", "\ufeff"), maxLength: 6 }),
);

test("PathIndex finds exactly the paths that were added, by the numbers they were added with", () => {
  fc.assert(fc.property(fc.uniqueArray(path, { maxLength: 60 }), fc.array(path), (added, others) => {
    const index = new PathIndex();
    for (const each of added) index.add(each);
    assert.equal(index.length, added.length);
    assert.deepEqual(added.map((each) => index.find(each)), [...added.keys()]);
    assert.deepEqual([...added.keys()].map((i) => index.at(i)), added);
    for (const each of others) assert.equal(index.find(each), added.includes(each) ? added.indexOf(each) : undefined);
  }));
});

test("PathIndex finds many paths, and long ones", () => {
  const index = new PathIndex();
  const paths = Array.from({ length: 20_000 }, (_, i) => `assets/part-${i % 100}/chunk-${i}.js`);
  paths.push("long/".repeat(2000), `${"long/".repeat(1999)}Long/`);
  for (const each of paths) index.add(each);
  assert.ok(paths.every((each, i) => index.find(each) === i && index.at(i) === each));
  assert.equal(index.find("assets/part-1/chunk-2.js"), undefined);
});
