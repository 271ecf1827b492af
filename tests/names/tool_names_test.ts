import assert from "node:assert/strict";
import test from "node:test";
import { hashedNames } from "../../lib/names/mod.ts";
import { tries } from "../support/long_run.ts";
import { buildOutputs } from "./build_outputs.ts";
import { layouts, projects } from "./tool_names.ts";

/** The number of names of each tool. */
const NAMES = tries(20_000);
/** The least share of them that is to be found. */
const LEAST = 0.99;

for (const [tool, { hashed, stable, missed = "" }] of Object.entries(buildOutputs)) {
  test(`what ${tool} wrote of a small project is told by its names`, () => {
    const known = hashed.split(" ");
    const paths = [...known.map((path) => path.replace(/[[\]]/g, "")), ...stable.split(" "), ...missed.split(" ")];
    const hashIn = hashedNames(paths);
    const found = paths.flatMap((path) => {
      const part = hashIn(path);
      return part ? [`${path.slice(0, part.start)}[${path.slice(part.start, part.end)}]${path.slice(part.end)}`] : [];
    });
    assert.deepEqual(found, known);
  });
}

for (const [tool, layout] of Object.entries(layouts)) {
  test(`of ${NAMES} names of ${tool}, in projects of 12 to 200 files, at least 99% are found`, () => {
    const all = projects(layout, NAMES, 1);
    const missed = all.flatMap((paths) => {
      const hashIn = hashedNames(paths);
      return paths.filter((path) => hashIn(path) === undefined);
    });
    const count = all.flat().length;
    assert.ok(count >= NAMES);
    assert.ok(missed.length <= count * (1 - LEAST), `${missed.length} of ${count}, such as ${missed.slice(0, 9)}`);
  });

  test(`so they are in one tree of ${NAMES} names of ${tool}`, () => {
    const paths = [...new Set(projects(layout, NAMES, 2).flat())];
    const hashIn = hashedNames(paths);
    const missed = paths.filter((path) => hashIn(path) === undefined);
    assert.ok(missed.length <= paths.length * (1 - LEAST), `${missed.length}, such as ${missed.slice(0, 9)}`);
  });
}
