import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawPage } from "./page.ts";
import { withFigures } from "./readme_figures.ts";
import type { Section } from "./tables.ts";

/** Returns the sections of a folder's `results`, one a file. */
export function readResults(folder: string): Section[] {
  const path = join(folder, "results");
  return readdirSync(path).sort().map((name) => JSON.parse(readFileSync(join(path, name), "utf8")));
}

/**
 * Draws the page and the plots of the folder's `results` beside them, and corrects the figures of the package's README;
 * plots that are no longer drawn are removed.
 */
export function writePage(folder: string): void {
  const results = readResults(folder);
  const readme = join(folder, "..", "README.md");
  writeFileSync(readme, withFigures(readFileSync(readme, "utf8"), results));
  const files = drawPage(results);
  mkdirSync(join(folder, "plots"), { recursive: true });
  for (const name of globSync("plots/*.svg", { cwd: folder })) if (!files.has(name)) rmSync(join(folder, name));
  for (const [path, text] of files) writeFileSync(join(folder, path), text);
}
