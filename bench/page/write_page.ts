import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawPage } from "./page.ts";
import { withFigures } from "./readme_figures.ts";

/**
 * Draws the page and the plots of the folder's `RESULTS.md` beside it, and corrects the figures of the package's README;
 * plots that are no longer drawn are removed.
 */
export function writePage(folder: string): void {
  const results = readFileSync(join(folder, "RESULTS.md"), "utf8");
  const readme = join(folder, "..", "README.md");
  writeFileSync(readme, withFigures(readFileSync(readme, "utf8"), results));
  const files = drawPage(results);
  mkdirSync(join(folder, "plots"), { recursive: true });
  for (const name of globSync("plots/*.svg", { cwd: folder })) if (!files.has(name)) rmSync(join(folder, name));
  for (const [path, text] of files) writeFileSync(join(folder, path), text);
}
