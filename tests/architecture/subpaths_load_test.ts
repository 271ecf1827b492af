import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { root } from "../support/runtime.ts";

/** The subpaths whose import has side effects. */
const ACTING: readonly string[] = ["./cli", "./install"];

/** A name that a runtime's module does not export keeps all that leads to its import from loading. */
const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
for (const [subpath, path] of Object.entries<string>(exports)) {
  if (ACTING.includes(subpath)) continue;
  test(`${subpath} loads`, async () => void await import(pathToFileURL(join(root, path)).href));
}
