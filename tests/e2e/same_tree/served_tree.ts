import { createHash } from "node:crypto";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { precompress } from "../../../lib/precompress/mod.ts";
import { noise, sourceText } from "../../support/bytes.ts";
import { listed, writeTree } from "../../support/folders.ts";

/** A precompressed tree for several servers to serve. */
export interface ServedTree {
  readonly folder: string;
  /** The path of a script that has deltas. */
  readonly script: string;
  /** The previous version of that script, as in a browser's cache. */
  readonly former: Uint8Array<ArrayBuffer>;
  /** The `Available-Dictionary` field that the browser sends then. */
  readonly dictionary: string;
}

/** The files of the tree by their URLs' paths. */
export const treePaths: readonly string[] = [
  "/",
  "/index.html",
  "/assets/app-3f9a1c0b.js",
  "/assets/style-Ab3dE9_x.css",
  "/assets/worker-4b5c6d7e.mjs",
  "/assets/library.umd.cjs",
  "/data/rows.json",
  "/docs/",
  "/docs/a%20page.html",
  "/picture.png",
  "/notes.txt",
  "/tiny.txt",
  "/empty.txt",
  "/large.txt",
];

/** Makes the tree below `folder`. */
export async function makeServedTree(folder: string): Promise<ServedTree> {
  const [tree, previous] = [join(folder, "dist"), join(folder, "deployed")];
  const text = (size: number, seed: number): string => new TextDecoder().decode(sourceText(size, seed));
  const former = sourceText(30_000, 1);
  await writeTree(previous, { "assets/app-9d8b7a6f.js": former, "assets/[id]+ä-9d8b7a6f.js": former });
  await writeTree(tree, {
    "index.html": `<!doctype html>\n<title>Mill</title>\n${"<p>The mill turns.</p>\n".repeat(200)}`,
    "assets/app-3f9a1c0b.js": `${text(30_000, 1)}\n// and more\n${text(500, 2)}`,
    "assets/style-Ab3dE9_x.css": "body { margin: 0; color: #123456 }\n".repeat(200),
    "assets/worker-4b5c6d7e.mjs": "onmessage = ({ data }) => postMessage(data + 1);\n".repeat(50),
    "assets/library.umd.cjs": "self.turn = (data) => data + 1;\n".repeat(50),
    "assets/[id]+ä-3f9a1c0b.js": `${text(30_000, 1)}\n// and others\n`,
    "assets/.env.js": "hidden",
    "assets/.hidden/a.js": "hidden",
    ".well-known/.hidden/a.txt": "hidden",
    "data/rows.json": JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: `wheel ${id}` }))),
    "docs/index.html": `<!doctype html><title>Manual</title>${"<p>Open the sluice.</p>".repeat(100)}`,
    "docs/a page.html": "<!doctype html><title>A page</title>",
    "picture.png": noise(5_000, 2),
    "notes.txt": "grüne Mühle\n".repeat(300),
    "tiny.txt": "x",
    "empty.txt": "",
    "large.txt": text(300_000, 3),
  });
  // A date is a strong validator only some time after it (RFC 9110, section 8.8.2.2).
  for (const path of await listed(tree)) await utimes(join(tree, path), 1.7e9, 1.7e9);
  await precompress(tree, { previous, levels: { brotli: 6, zstd: 6, gzip: 6 } });
  const dictionary = `:${createHash("sha256").update(former).digest("base64")}:`;
  return { folder: tree, script: "/assets/app-3f9a1c0b.js", former, dictionary };
}
