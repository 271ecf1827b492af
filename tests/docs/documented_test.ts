import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { root, runtime } from "../support/runtime.ts";
import { readBlocks } from "./blocks.ts";
import { type PublicSymbol, publicSymbols } from "./public_symbols.ts";

const skip = runtime === "node" ? false : "the documentation is the same everywhere";
const symbols = runtime === "node" ? publicSymbols(root, join(root, "node_modules/.bin/deno")) : [];

/** Fails with those that lack something, a line each. */
function assertNone(lacks: (symbol: PublicSymbol) => boolean): void {
  const lacking = symbols.filter(lacks).map(({ name, place }) => `${place} ${name}`);
  assert.ok(lacking.length === 0, `\n${lacking.join("\n")}\n`);
}

test("deno doc shows the public symbols of every subpath", { skip }, () => {
  for (const name of [".", "./http", "./install", "compress", "HttpClient", "ReadableStream", "uninstall"]) {
    assert.ok(symbols.some((symbol) => symbol.name === name), name);
  }
  assert.ok(symbols.length > 130, `only ${symbols.length}`);
});

test("every public symbol, and every module, has a description", { skip }, () => {
  assertNone(({ description }) => description === "");
});

test("every public symbol, and every module but the command, has an example that is run", { skip }, () => {
  assertNone(({ name, examples }) => name !== "./cli" && examples.every(({ blocks }) => blocks.length === 0));
});

test("every example of a symbol has a title and a block", { skip }, () => {
  const isModule = (name: string): boolean => name.startsWith(".");
  assertNone(({ name, examples }) => {
    return examples.some(({ title, blocks }) => (title === "" && !isModule(name)) || blocks.length === 0);
  });
});

test("the blocks of every public symbol are among those that are run", { skip }, () => {
  const run = new Map<string, string[]>();
  for (const path of new Set(symbols.filter(({ examples }) => examples.length > 0).map(({ path }) => path))) {
    run.set(path, readBlocks([path], root).map(({ code }) => code.trim()));
  }
  assertNone(({ path, examples }) => {
    return examples.flatMap(({ blocks }) => blocks).some(({ code }) => !run.get(path)!.includes(code.trim()));
  });
});
