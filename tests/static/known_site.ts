import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { precompress } from "../../lib/precompress/mod.ts";
import { concatenated, noise, sourceText } from "../support/bytes.ts";
import { listed, writeTree } from "../support/folders.ts";

/** The representation of a file in one coding. */
export interface KnownRepresentation {
  readonly coding: string;
  readonly bytes: Uint8Array;
  /** The value of the `ETag` field. */
  readonly tag: string;
}

/** A site whose every answer is known beforehand. */
export interface KnownSite {
  readonly directory: string;
  /** The representations by path of the URL; the first is the file itself. */
  readonly files: ReadonlyMap<string, readonly KnownRepresentation[]>;
  /** The value of `Available-Dictionary` that the deltas of `/assets/app.4f3a9c1e.js` are for. */
  readonly dictionary: string;
}

const codings: Readonly<Record<string, string>> = {
  ".br": "br",
  ".zst": "zstd",
  ".gz": "gzip",
  ".dcb": "dcb",
  ".dcz": "dcz",
};

/** Makes a small precompressed site with a delta below `folder`. */
export async function makeKnownSite(folder: string): Promise<KnownSite> {
  const directory = join(folder, "site");
  const previous = join(folder, "previous");
  const former = sourceText(30_000, 1);
  await writeTree(previous, { "assets/app.9d8b7a6f.js": former });
  await writeTree(directory, {
    "index.html": `<!doctype html>\n<title>Mill</title>\n${"<p>The mill turns.</p>\n".repeat(200)}`,
    "assets/app.4f3a9c1e.js": concatenated([former, sourceText(500, 2)]),
    "docs/index.html": "<!doctype html><title>Manual</title>\n",
    "style.css": "body { margin: 0; color: #123456 }\n".repeat(200),
    "picture.png": noise(5_000, 2),
    "large.bin": noise(100_000, 3),
    "large.txt": sourceText(150_000, 4),
    "huge.bin": noise(400_000, 5),
    "tiny.txt": "x",
    "empty.txt": "",
  });
  await precompress(directory, { previous, jobs: 1, levels: { brotli: 5, zstd: 5, gzip: 6 } });
  const dictionary = `:${createHash("sha256").update(former).digest("base64")}:`;
  return { directory, files: await representations(directory), dictionary };
}

async function representations(directory: string): Promise<Map<string, KnownRepresentation[]>> {
  const files = new Map<string, KnownRepresentation[]>();
  // A file sorts before its variants.
  for (const path of await listed(directory)) {
    if (path.startsWith(".")) continue;
    const [, original, extension] = /^(.*?)(\.(?:br|zst|gz|dcb|dcz))?$/.exec(path)!;
    const coding = extension ? codings[extension] : "identity";
    const bytes = new Uint8Array(await readFile(join(directory, path)));
    const digest = createHash("sha256").update(bytes).digest("base64");
    const known = files.get(`/${original}`) ?? [];
    files.set(`/${original}`, [...known, { coding, bytes, tag: `"${digest.slice(0, 22)}"` }]);
  }
  files.set("/", files.get("/index.html")!);
  files.set("/docs/", files.get("/docs/index.html")!);
  return files;
}
