/**
 * Imports modules one after the other, so that their servers listen side by side, and sends what each has printed. Started
 * by `migrating_isolated_test.ts`, which ends it: `migrating_side.ts MODULE…`
 */
import process from "node:process";
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const printed: string[][] = [];
for (const path of process.argv.slice(2)) {
  const lines: string[] = [];
  printed.push(lines);
  console.log = (...values: unknown[]) => void lines.push(format(...values));
  await import(pathToFileURL(path).href);
}
process.send!(printed);
