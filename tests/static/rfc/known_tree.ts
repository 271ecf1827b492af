import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { decompress } from "../../../lib/codecs/mod.ts";
import { precompress } from "../../../lib/precompress/mod.ts";
import { noise, sourceText } from "../../support/bytes.ts";
import { listed, writeTree } from "../../support/folders.ts";

/** A content coding, by its name in HTTP. */
export type Coding = "identity" | "br" | "zstd" | "gzip" | "dcb" | "dcz";

/** A representation of a file in a coding. */
export interface KnownBytes {
  readonly bytes: Uint8Array;
  /** The value of the `ETag` field. */
  readonly tag: string;
  /** SHA-256 in base64. */
  readonly digest: string;
}

/** A file of the tree, and all that its answers say. */
export interface KnownFile {
  /** The path below the folder. */
  readonly path: string;
  readonly type: string;
  /** The value of the `Last-Modified` field. */
  readonly modified: string;
  readonly isImmutable: boolean;
  readonly coded: ReadonlyMap<Coding, KnownBytes>;
  /** SHA-256 of the former version in base64, if there are deltas against it. */
  readonly dictionary: string | undefined;
}

/** A folder whose every answer is known beforehand. */
export interface KnownTree {
  readonly directory: string;
  readonly files: ReadonlyMap<string, KnownFile>;
}

/** The time of the last change of all files; half a second later, to be exact. */
export const MODIFIED = "Mon, 06 May 2024 07:08:09 GMT";
const modifiedAt = Date.UTC(2024, 4, 6, 7, 8, 9, 500) / 1000;

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const TEXT = "text/plain; charset=utf-8";

const page = (title: string, lines: number): string =>
  `<!doctype html>\n<title>${title}</title>\n${"<p>The mill turns as long as the water runs.</p>\n".repeat(lines)}`;

/** The former deploy. `main` has another name in each. */
const former: Readonly<Record<string, Uint8Array>> = {
  "app.js": sourceText(30_000, 1),
  "large.js": sourceText(260_000, 2),
  "assets/main-9d8b7a6f.js": sourceText(30_000, 3),
};

/** The tree's files by path: content and media type. */
const tree: Readonly<Record<string, readonly [content: string | Uint8Array, type: string]>> = {
  "index.html": [page("Mill", 100), HTML],
  "about.html": [page("About", 5), HTML],
  "docs/index.html": [page("Docs", 5), HTML],
  "docs/guide.html": [page("Guide", 100), HTML],
  "errors/404.html": [page("Nothing here", 100), HTML],
  "app.js": [edited(former["app.js"]), SCRIPT],
  "large.js": [edited(former["large.js"]), SCRIPT],
  "assets/main-3f9a1c0b.js": [edited(former["assets/main-9d8b7a6f.js"]), SCRIPT],
  "style.css": [page("not CSS, but who looks", 100), "text/css; charset=utf-8"],
  "data.json": [JSON.stringify(Array.from({ length: 300 }, (_, id) => ({ id, name: `wheel ${id}` }))), ""],
  "icon.svg": [`<svg xmlns="http://www.w3.org/2000/svg">${"<g/>".repeat(500)}</svg>`, "image/svg+xml"],
  "picture.png": [noise(5_000, 4), "image/png"],
  "large.bin": [noise(700_000, 5), "application/octet-stream"],
  "clip.mp4": [noise(3_000, 6), "video/mp4"],
  "font.woff2": [noise(3_000, 7), "font/woff2"],
  "module.wasm": [noise(3_000, 8), "application/wasm"],
  "archive.tar.gz": [noise(3_000, 9), "application/gzip"],
  "READ.TXT": ["upper case\n", TEXT],
  "noextension": ["what is it?\n", "application/octet-stream"],
  "unknown.qqq": ["what is it?\n", "application/octet-stream"],
  "empty.txt": ["", TEXT],
  "tiny.txt": ["x", TEXT],
  "ten.txt": ["0123456789", TEXT],
  "future.txt": ["from a clock that is ahead\n", TEXT],
  "a b.txt": ["space\n", TEXT],
  "a+b.txt": ["plus\n", TEXT],
  "ü€😀.txt": ["beyond ASCII\n", TEXT],
  "100%.txt": ["percent\n", TEXT],
  "q?h#.txt": ["delimiters\n", TEXT],
  "semi;colon@.txt": ["subcomponent delimiters\n", TEXT],
  "back\\slash.txt": ["a name with a backslash, which separates nothing\n", TEXT],
  ".env": ["secret\n", "application/octet-stream"],
  ".hidden/secret.txt": ["secret\n", TEXT],
  ".well-known/security.txt": ["Contact: mailto:miller@example.org\n", TEXT],
};

function edited(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  copy.set(new TextEncoder().encode("/* a new version */"), bytes.length >> 1);
  return copy;
}

const extensions: Readonly<Record<Coding, string>> = {
  identity: "",
  br: ".br",
  zstd: ".zst",
  gzip: ".gz",
  dcb: ".dcb",
  dcz: ".dcz",
};

/** Makes the tree below `folder`, with its variants and its deltas against a former deploy. */
export async function makeKnownTree(folder: string): Promise<KnownTree> {
  const directory = join(folder, "tree");
  const previous = join(folder, "previous");
  await writeTree(previous, former);
  await writeTree(directory, Object.fromEntries(Object.entries(tree).map(([path, [content]]) => [path, content])));
  for (const path of Object.keys(tree)) {
    const time = path === "future.txt" ? Date.now() / 1000 + 86_400 : modifiedAt;
    await utimes(join(directory, path), time, time);
  }
  const report = await precompress(directory, { previous, jobs: 1, levels: { brotli: 11, zstd: 5, gzip: 1 } });
  assert.deepEqual(report.problems, []);
  const present = new Set(await listed(directory));
  const files = new Map<string, KnownFile>();
  for (const path of Object.keys(tree)) files.set(path, await knownFile(directory, path, present));
  return { directory, files };
}

async function knownFile(directory: string, path: string, present: ReadonlySet<string>): Promise<KnownFile> {
  const coded = new Map<Coding, KnownBytes>();
  for (const [coding, extension] of Object.entries(extensions) as [Coding, string][]) {
    if (!present.has(path + extension)) continue;
    const bytes = new Uint8Array(await readFile(join(directory, path + extension)));
    const digest = createHash("sha256").update(bytes).digest("base64");
    coded.set(coding, { bytes, tag: `"${digest.slice(0, 22)}"`, digest });
  }
  const dictionary = coded.has("dcb")
    ? former[path === "assets/main-3f9a1c0b.js" ? "assets/main-9d8b7a6f.js" : path]
    : undefined;
  await checkCoded(coded, dictionary);
  return {
    path,
    type: tree[path][1],
    modified: MODIFIED,
    isImmutable: path.startsWith("assets/"),
    coded,
    dictionary: dictionary && createHash("sha256").update(dictionary).digest("base64"),
  };
}

/** Every coding must give the file's bytes back: then an answer with the coding's bytes is right. */
async function checkCoded(coded: ReadonlyMap<Coding, KnownBytes>, dictionary: Uint8Array | undefined): Promise<void> {
  const formats = { br: "brotli", zstd: "zstd", gzip: "gzip", dcb: "dcb", dcz: "dcz" } as const;
  const original = coded.get("identity")!.bytes;
  for (const [coding, { bytes }] of coded) {
    if (coding === "identity") continue;
    const isDelta = coding === "dcb" || coding === "dcz";
    const options = { format: formats[coding], ...isDelta ? { dictionary: dictionary!.slice() } : {} };
    assert.deepEqual(await decompress(bytes.slice(), options), original);
  }
}
