import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimeCommand } from "./runtime_command.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const cache = join(root, "node_modules/.cache/versions");

/** The tags by which npm may have versions that are newer than the latest. */
const EARLY = ["canary", "nightly", "next"];

/**
 * Returns the oldest version of a runtime that we support, the one that tests run on, and the newest ones, in order.
 */
export function versionsToCompare(runtime: string): string[] {
  const oldest = readJson(".ci/minimum/package.json").dependencies[runtime];
  const locked = readJson("package-lock.json").packages[`node_modules/${runtime}`].version;
  const tags: Record<string, string> = JSON.parse(npm(root, ["view", runtime, "dist-tags", "--json"]));
  const early = EARLY.flatMap((tag) => tags[tag] ?? []);
  return [...new Set([oldest, locked, tags.latest, ...early])];
}

/** Installs a version of a runtime, unless that is there, and returns the command that runs a script on it. */
export function commandOf(runtime: string, version: string): readonly string[] {
  const folder = join(cache, `${runtime}-${version}`);
  const command = join(folder, "node_modules/.bin", runtime);
  if (!existsSync(command)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { [runtime]: true } }));
    npm(folder, ["install", "--no-audit", "--no-fund", "--save-exact", `${runtime}@${version}`]);
  }
  return runtimeCommand(runtime, command);
}

function npm(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  console.error(`npm ${args.join(" ")} failed:\n${stderr}`);
  process.exit(1);
}

/** Returns a file of the repository whose shape is npm's. */
function readJson(path: string): PackageFile {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}

interface PackageFile {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
}
