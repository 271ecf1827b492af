import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Fence } from "./block.ts";
import { commandsOf } from "./shell_block.ts";

/**
 * The state of an empty folder after the commands of a page that begin with `npm i` or `mkdir`: its examples run in
 * such a folder, and in no other.
 */
export interface Setup {
  /** The packages that `npm i` names. */
  readonly packages: readonly string[];
  /** The commands that make files, and those behind an installation's `&&`. */
  readonly commands: readonly string[];
}

/** A line that installs packages, by whichever runtime's command. */
export interface InstallLine {
  readonly line: number;
  readonly by: "npm i" | "bun add" | "deno add";
  /** Names of packages without registries and versions. */
  readonly packages: readonly string[];
  /** The command behind `&&`; empty if there is none. */
  readonly rest: string;
}

const installing = /^(npm i|bun add|deno add)((?: +(?:-[Dd]|[\w@/.:-]+))+) *(?:&& *(.*))?$/;
const nodeModules = join(dirname(fileURLToPath(import.meta.url)), "../../node_modules");

/** Whether a command belongs to the setup of its page, or is an installation by another runtime. */
export function isSetup(words: string): boolean {
  return /^mkdir /.test(words) || installing.test(words.trim());
}

/** Returns the lines of a page that install packages. */
export function installLinesOf(fences: readonly Fence[]): InstallLine[] {
  return shellCommandsOf(fences).flatMap(({ line, words }) => {
    const match = installing.exec(words.trim());
    if (match === null) return [];
    const [, by, names, rest = ""] = match;
    const packages = names.trim().split(/ +/).filter((word) => !word.startsWith("-"))
      .map((word) => /^(?:npm:|jsr:)?(@?[^@]+)/.exec(word)![1]);
    return [{ line, by: by as InstallLine["by"], packages, rest }];
  });
}

/** Returns the setup of a page. */
export function setupOf(fences: readonly Fence[]): Setup {
  const lines = installLinesOf(fences).filter(({ by }) => by === "npm i");
  const commands = shellCommandsOf(fences).flatMap(({ line, words }) => {
    if (/^mkdir /.test(words)) return [words];
    const rest = lines.find((found) => found.line === line)?.rest;
    return rest ? [rest] : [];
  });
  return { packages: [...new Set(lines.flatMap(({ packages }) => packages))], commands };
}

function shellCommandsOf(fences: readonly Fence[]): ReturnType<typeof commandsOf> {
  return fences.filter(({ info }) => info === "sh").flatMap((fence) => commandsOf(fence));
}

/** Does in an empty folder, whose parents have `@millrace/streams`, what a page has its reader do first. */
export async function setUp(folder: string, { packages, commands }: Setup): Promise<void> {
  for (const name of packages.filter((name) => name !== "@millrace/streams")) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(nodeModules, name), link);
  }
  if (commands.length > 0) await promisify(execFile)("sh", ["-ec", commands.join("\n")], { cwd: folder });
}
