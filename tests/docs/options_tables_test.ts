import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type DocumentedOption,
  faultsOf,
  optionsTables,
  uncheckedOptions,
  withTables,
} from "../../.ci/options_tables.ts";
import { bool, func, integer, listOf, schema, text } from "../../lib/streams/internal.ts";
import type { Taker } from "../options/taker.ts";
import { runtime } from "../support/runtime.ts";

const skip = runtime === "node" ? false : "the documentation is the same everywhere";

test("pages have the tables of options that schemas and doc comments make", { skip }, async () => {
  const { pages, faults } = await optionsTables();
  for (const [path, [page, made]] of pages) {
    assert.equal(page, made, `${path} has other tables: node .ci/options_tables.ts --write`);
  }
  assert.deepEqual(faults, []);
  assert.ok([...pages.values()].filter(([page]) => page.includes("<!-- options: ")).length >= 10);
});

const taker: Taker = {
  schema: schema("open()", () => ({
    isOpen: bool(false),
    size: integer(1, 9, 4),
    names: listOf(text(), "a list of names", ["a", "b"]),
    filter: func(),
  })),
  take: (): void => {},
};

function option(otherwise?: string): DocumentedOption {
  return { sentence: "It does something", default: otherwise, isOptional: true };
}

const documented = {
  isOpen: option("false: nothing is open"),
  size: option("4"),
  names: option('["a", "b"]'),
  filter: option("all pass"),
};

test("a schema and doc comments that agree have no fault", () => {
  assert.deepEqual(faultsOf("Options", taker, new Map(Object.entries(documented))), []);
});

const wrong: readonly (readonly [Record<string, DocumentedOption>, string])[] = [
  [{ isOpen: option("true") }, "Options.isOpen: the schema's default is false, and @default says true"],
  [{ isOpen: option() }, "Options.isOpen: the schema's default is false, and @default says nothing"],
  [{ size: option("5") }, "Options.size: the schema's default is 4, and @default says 5"],
  [{ names: option('["a"]') }, "Options.names: the schema's default is [ 'a', 'b' ], and @default says [\"a\"]"],
  [{ filter: option("7") }, "Options.filter: the schema's default is undefined, and @default says 7"],
  [{ filter: { ...option(), sentence: "" } }, "Options.filter has no doc comment"],
  [{ other: option() }, "Options.other is not in the schema"],
];

for (const [options, fault] of wrong) {
  test(`a fault is found: ${fault}`, () => {
    assert.deepEqual(faultsOf("Options", taker, new Map(Object.entries({ ...documented, ...options }))), [fault]);
  });
}

test("a public interface of options that no schema checks is a fault", () => {
  const excepted = ["PrecompressPluginOptions", "QueuingStrategyInit", "ReadableStreamBYOBReaderReadOptions"];
  const names = [...excepted, "StreamPipeOptions", "LineStreamOptions", "GrindOptions", "LineStream"];
  const takers = new Map([["LineStreamOptions", taker]]);
  assert.deepEqual(uncheckedOptions(names, takers), ["no taker has a schema for GrindOptions"]);
  assert.deepEqual(uncheckedOptions(excepted, takers), ["StreamPipeOptions is excepted for nothing"]);
});

test("a table is made anew, and an option of two interfaces is told of once", { skip }, () => {
  const other = {
    ...taker,
    schema: schema("reopen()", () => ({ isOpen: bool(false), count: integer(0, Infinity, 1024) })),
  };
  const takers = new Map([["Options", taker], ["OtherOptions", other]]);
  const interfaces = new Map([
    ["Options", new Map(Object.entries(documented))],
    ["OtherOptions", new Map(Object.entries({ isOpen: documented.isOpen, count: option("1024") }))],
  ]);
  const page = `# Page

<!-- options: Options, OtherOptions -->

An old table.

<!-- /options -->

The end.
`;
  const made = withTables(page, takers, interfaces);
  const cells = made.split("\n").filter((line) => line.startsWith("|")).map((line) =>
    line.split(/ *\| */).slice(1, -1)
  );
  assert.deepEqual(cells.filter(([first]) => !first.startsWith("-")), [
    ["option", "of", "values", "default", "what it says"],
    ["`isOpen`", "`open()`, `reopen()`", "`true` or `false`", "`false`: nothing is open", "It does something"],
    ["`size`", "`open()`", "a whole number from 1 to 9", "4", "It does something"],
    ["`names`", "`open()`", "a list of names", '`["a", "b"]`', "It does something"],
    ["`filter`", "`open()`", "a function", "all pass", "It does something"],
    ["`count`", "`reopen()`", "a whole number from 0", "1,024", "It does something"],
  ]);
  assert.ok(!made.includes("An old table."));
  assert.ok(made.endsWith("<!-- /options -->\n\nThe end.\n"));
  assert.equal(withTables(made, takers, interfaces), made);
});
