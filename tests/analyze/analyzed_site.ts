import { type Analysis, analyze } from "../../lib/analyze/mod.ts";
import { noise, sourceText } from "../support/bytes.ts";
import { writeTree } from "../support/folders.ts";

/** Writes a site of one page, with a script whose name holds a hash, a style sheet and a picture. */
export async function writeSite(folder: string): Promise<void> {
  await writeTree(folder, {
    "index.html": `<!doctype html><link rel=stylesheet href=/style.css><script src=/assets/app-9d8b7a6f.js></script>
      <script src="https://elsewhere.example/a.js"></script>${"<p>The mill turns.</p>".repeat(100)}`,
    "assets/app-9d8b7a6f.js": sourceText(30_000, 1),
    "style.css": "body { background: url(picture.png) }".padEnd(2000, "p { margin: 0 }\n"),
    "picture.png": noise(5000, 2),
  });
}

/** Analyzes a site with limits that it does not reach. */
export async function analyzed(
  target: string,
  options: Partial<Parameters<typeof analyze>[1]> = {},
): Promise<Analysis> {
  const signal = new AbortController().signal;
  return await analyze(target, { origins: [], maxFiles: 100, maxBytes: 1e7, timeout: 60_000, signal, ...options });
}

/** Returns the kinds of findings by the name of the file. */
export function findingsOf({ files }: Analysis): Record<string, string> {
  return Object.fromEntries(
    files.map(({ url, findings }) => [
      url.slice(url.lastIndexOf("/") + 1) || "index.html",
      findings.map(({ kind }) => kind).sort().join(" "),
    ]).sort(([a], [b]) => a < b ? -1 : 1),
  );
}
