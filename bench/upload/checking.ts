import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { digestOf } from "./content.ts";

const buffer = new Uint8Array(1024 * 1024);

/**
 * Compares the SHA-256 of all files in a folder with what was sent.
 *
 * @throws {Error} if a file differs, is missing, or is too many.
 */
export function check(folder: string, uploads: number, bytes: number): void {
  const names = readdirSync(folder);
  if (names.length !== uploads) throw new Error(`${names.length} files instead of ${uploads}`);
  for (let index = 0; index < uploads; index++) {
    if (digestOfFile(join(folder, String(index))) !== digestOf(index, bytes)) throw new Error(`file ${index} differs`);
  }
}

function digestOfFile(path: string): string {
  const hash = createHash("sha256");
  const file = openSync(path, "r");
  for (let count; (count = readSync(file, buffer)) > 0;) hash.update(buffer.subarray(0, count));
  closeSync(file);
  return hash.digest("hex");
}
