import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../../support/runtime.ts";

/** The folder that `run.ts` installs the applications into. */
export const folder: string = join(root, "node_modules/.cache/applications");

/** A module in that folder, which sees its packages, and whose presence shows that all of them are there. */
export const loader: string = join(folder, "load.mjs");

/** Whether the applications have been installed. */
export function areInstalled(): boolean {
  return existsSync(loader);
}

/** Imports a package, or a module of one. */
// deno-lint-ignore no-explicit-any -- packages that are not installed have no types
export async function load(specifier: string): Promise<any> {
  const { load } = await import(pathToFileURL(loader).href);
  return await load(specifier);
}
