/**
 * Prepares a machine of GitHub Actions for the steps that follow: the Node of the machine is in the place of npm's;
 * temporary folders have a long path on Windows; links are refused if `LINKS` says so.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { root } from "../root.ts";

const { GITHUB_ENV, RUNNER_TEMP, LINKS } = process.env;
if (GITHUB_ENV === undefined || RUNNER_TEMP === undefined) {
  throw new TypeError("GITHUB_ENV and RUNNER_TEMP must be set, as in a step of GitHub Actions");
}
for (const path of [".bin/node", ".bin/node.cmd", ".bin/node.ps1", "node"]) {
  rmSync(join(root, "node_modules", path), { recursive: true, force: true });
}
if (process.platform === "win32") {
  const folder = join(RUNNER_TEMP, ...Array<string>(8).fill("a-folder-with-a-long-path"));
  mkdirSync(folder, { recursive: true });
  appendFileSync(GITHUB_ENV, `TEMP=${folder}\nTMP=${folder}\n`);
}
if (LINKS === "refused") {
  appendFileSync(GITHUB_ENV, `NODE_OPTIONS=--require=./.ci/systems/no_links.cjs\n`);
}
