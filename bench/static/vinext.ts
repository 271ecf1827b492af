import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { corpusFolder } from "../corpus_folder.ts";

const VERSION = "1.4.0";
const folder = join(corpusFolder, "static", `vinext-${VERSION}`);

/** Returns the path of a module of vinext's server. */
export function vinextModule(name: string): string {
  return join(folder, "node_modules/vinext/dist/server", name);
}

/** Installs vinext for this benchmark alone, as it brings 60 packages, none of which runs a script. */
export async function installVinext(): Promise<void> {
  if (existsSync(vinextModule("prod-server.js"))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const options = ["--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
  await promisify(execFile)("npm", ["install", ...options, `vinext@${VERSION}`], { cwd: folder });
}
