/**
 * Prepares a machine of GitHub Actions for the steps that follow: npm's Bun and Deno are on the path, and the Node of the
 * machine in the place of npm's; temporary folders have a long path on Windows; links are refused if `LINKS` says so.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { root } from "../root.ts";

const { GITHUB_ENV, GITHUB_PATH, RUNNER_TEMP, LINKS } = process.env;
if (GITHUB_ENV === undefined || GITHUB_PATH === undefined || RUNNER_TEMP === undefined) {
  throw new TypeError("GITHUB_ENV, GITHUB_PATH and RUNNER_TEMP must be set, as in a step of GitHub Actions");
}
rmSync(join(root, "node_modules/.bin/node"), { force: true });
for (const folder of ["bun/bin", "deno"]) appendFileSync(GITHUB_PATH, `${join(root, "node_modules", folder)}\n`);
if (process.platform === "win32") {
  const folder = join(RUNNER_TEMP, ...Array<string>(8).fill("a-folder-with-a-long-path"));
  mkdirSync(folder, { recursive: true });
  appendFileSync(GITHUB_ENV, `TEMP=${folder}\nTMP=${folder}\n`);
}
if (LINKS === "refused") {
  appendFileSync(GITHUB_ENV, `NODE_OPTIONS=--require=./.ci/systems/no_links.cjs\n`);
}
