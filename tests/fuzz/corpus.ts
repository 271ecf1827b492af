import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Inputs that are kept with the sources: each ending once, and what was a bug. A test replays them. */
export const kept: string = join(here, "corpus");
/** What the runs on this machine found; git ignores it. */
export const found: string = join(here, "found");

/** An input and its file's name. */
export interface SavedInput {
  readonly name: string;
  readonly input: Uint8Array;
}

const TABLE = "endings.json";

/** How the kept inputs of a target end, by their names; undefined if that is not written down. */
export function expectedEndings(target: string): Readonly<Record<string, string>> | undefined {
  const path = join(kept, target, TABLE);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) as Record<string, string> : undefined;
}

/** Writes down how the kept inputs of a target end. */
export function writeEndings(target: string, endings: Readonly<Record<string, string>>): void {
  writeFileSync(join(kept, target, TABLE), `${JSON.stringify(endings, undefined, 2)}\n`);
}

/** The inputs of a target in one of the folders, failures left out. */
export function loadInputs(folder: string, target: string): SavedInput[] {
  const place = join(folder, target);
  if (!existsSync(place)) return [];
  return readdirSync(place).filter((name) => !name.startsWith("failure") && name !== TABLE).sort()
    .map((name) => ({ name, input: Uint8Array.from(readFileSync(join(place, name))) }));
}

/** Writes an input into a folder, under a name that is the same for the same input. Returns its path. */
export function saveInput(folder: string, target: string, prefix: string, input: Uint8Array): string {
  const place = join(folder, target);
  mkdirSync(place, { recursive: true });
  const path = join(place, `${prefix}${createHash("sha256").update(input).digest("hex").slice(0, 12)}`);
  writeFileSync(path, input);
  return path;
}
