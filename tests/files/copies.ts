/** Copies each file of the folder in its argument, and prints a description of the copies. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { copyFileAtomic } from "../../lib/files/mod.ts";

/** A copy, or why there is none. */
export interface Copy {
  readonly text?: string;
  readonly mode?: number;
  readonly mtimeMs?: number;
  readonly failure?: string;
}

const [, , from, to, mtimeMs] = process.argv;
const copies: Record<string, Copy> = {};
for (const name of (await readdir(from)).sort()) {
  const target = join(to, name);
  try {
    await copyFileAtomic(join(from, name), target, { mtimeMs: Number(mtimeMs) });
    const { mode, mtimeMs: modified } = await stat(target);
    copies[name] = { text: await readFile(target, "utf8"), mode: mode & 0o777, mtimeMs: modified };
  } catch (error) {
    copies[name] = { failure: String(error) };
  }
}
console.log(JSON.stringify(copies));
