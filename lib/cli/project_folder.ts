import { existsSync } from "node:fs";
import { join } from "node:path";

/** Folders that build tools write to, the most common first. */
const BUILDS = ["dist", "build", "out", "public"];

/**
 * Why `directory` seems to be a project's own folder, whose sources and packages are hardly what is deployed; undefined if
 * it does not. A `package.json` alone is no sign: builds for servers have one.
 */
export function projectSign(directory: string): string | undefined {
  if (isFolder(join(directory, "node_modules"))) return "it has node_modules in it";
  const hasSources = existsSync(join(directory, "package.json")) && isFolder(join(directory, "src"));
  return hasSources ? "it has package.json and src in it" : undefined;
}

/** The path of the build in a project's folder, if there is one by a common name. */
export function buildIn(directory: string): string | undefined {
  return BUILDS.map((name) => join(directory, name)).find(isFolder);
}

/** A folder alone has an entry for itself in it. */
function isFolder(path: string): boolean {
  return existsSync(`${path}/.`);
}
