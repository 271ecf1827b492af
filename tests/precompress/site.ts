import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { noise, sourceText } from "../support/bytes.ts";
import { listed, writeTree } from "../support/folders.ts";

/** A small site with files of every kind, all last changed on the same day. */
export async function writeSite(folder: string): Promise<void> {
  await writeTree(folder, {
    "index.html": `<!doctype html>\n<title>Mill</title>\n${"<p>The mill turns.</p>\n".repeat(300)}`,
    "assets/app.4f3a9c1e.js": sourceText(40_000, 1),
    "assets/style.css": "body { margin: 0; color: #123456 }\n".repeat(200),
    "assets/deep/er/data.json": JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `wheel ${id}` }))),
    "picture.png": noise(20_000, 2),
    "unknown.bin": noise(20_000, 3),
    "small.txt": "too small to bother\n",
    "empty.txt": "",
  });
  for (const path of await listed(folder)) await utimes(join(folder, path), 1.7e9, 1.7e9);
}
