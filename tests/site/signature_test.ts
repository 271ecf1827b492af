import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { readNodes } from "../../.ci/site/deno_doc.ts";
import { signatureOf } from "../../.ci/site/signature.ts";
import { inFolder, writeTree } from "../support/folders.ts";

/** Declarations that are shown unchanged, one of each kind of type. */
const declarations = [
  "type Conditional<T> = T extends readonly (infer U extends string)[] ? U : never",
  "type Mapped<T> = { readonly [K in keyof T as `on${string & K}`]?: T[K] }",
  "type Signed<T> = { -readonly [K in keyof T]-?: T[K] }",
  'type Imported = import("./other.ts").Other<string>',
  "function isText(value: unknown): value is string",
  "function requireText(value: unknown): asserts value is string",
  "function requireTrue(value: unknown): asserts value",
  "type Template = `a-${string}-b`",
  "type Query = typeof globalThis",
  'type Literals = 1n | true | -1 | "text"',
  "type Key = keyof Mapped<string>",
  "type Grouped = (string | number)[]",
  "type Pair = [string, number?]",
  "type Call = <T>(value: T, ...rest: string[]) => void",
  "type Made = new () => object",
  "type Shape = { (x: number): string; [key: string]: unknown; readonly a?: string; m(x: string): void }",
  "interface Base<T = string> extends Iterable<T>",
  "class Derived<T> extends Map<string, T>",
  "const names: readonly string[]",
];

/** Returns a declaration as a module has it. */
function exported(declaration: string): string {
  if (declaration.startsWith("function")) return `export ${declaration} { throw value; }`;
  if (declaration.startsWith("const")) return `export ${declaration} = [];`;
  return `export ${declaration}${/^(?:class|interface)/.test(declaration) ? " {}" : ";"}`;
}

test("signatures are shown as they are written, whatever their types are", () =>
  inFolder(async (folder) => {
    await writeTree(folder, { "mod.ts": declarations.map(exported).join("\n") });
    const [{ symbols }] = readNodes([join(folder, "mod.ts")]).values();
    const shown = new Map(symbols.map((symbol) => [symbol.name, signatureOf(symbol)]));
    for (const declaration of declarations) {
      assert.equal(shown.get(/^\w+ (\w+)/.exec(declaration)![1])?.replace(/\n {2}/g, " "), declaration);
    }
  }));
