import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** The folder of the inputs found by runs on this machine; ignored by git. */
export const found: string = join(here, "found");

/** A row of a target's table in `corpus/`: a test holds the target to it. */
export interface KnownInput {
  /** The bytes, a character each. */
  readonly input: string;
  /** The end of the target, as `Target.check()` reports it; null if that is up to the runtime. */
  readonly ending: string | null;
  /** The reason why it is kept. */
  readonly why: string;
}

/** Returns the path of a target's table. */
function tablePath(target: string): string {
  return join(here, "corpus", `${target}.json`);
}

/** Reads the table of a target. */
export function knownInputs(target: string): KnownInput[] {
  const path = tablePath(target);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
}

/** Writes the table of a target, a row a line. */
export function writeKnownInputs(target: string, rows: readonly KnownInput[]): void {
  const visible = (row: KnownInput): string =>
    JSON.stringify(row).replace(/[\x7f-\xff]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
  writeFileSync(tablePath(target), `[\n${rows.map((row) => `  ${visible(row)}`).join(",\n")}\n]\n`);
}

/** Returns the bytes that a text has a character each for. */
export function bytesOf({ input }: KnownInput): Uint8Array {
  return Uint8Array.from(input, (character) => character.charCodeAt(0));
}

/** An input and its file's name. */
export interface SavedInput {
  readonly name: string;
  readonly input: Uint8Array;
}

/** Returns the inputs of a target that were found here, failures left out. */
export function foundInputs(target: string): SavedInput[] {
  const place = join(found, target);
  if (!existsSync(place)) return [];
  return readdirSync(place).filter((name) => !name.startsWith("failure")).sort()
    .map((name) => ({ name, input: Uint8Array.from(readFileSync(join(place, name))) }));
}

/** Saves an input that was found, under a name that is the same for the same input. Returns its path. */
export function saveInput(target: string, prefix: string, input: Uint8Array): string {
  const place = join(found, target);
  mkdirSync(place, { recursive: true });
  const path = join(place, `${prefix}${createHash("sha256").update(input).digest("hex").slice(0, 12)}`);
  writeFileSync(path, input);
  return path;
}
