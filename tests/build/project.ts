import { join } from "node:path";
import { readManifest } from "../../lib/precompress/mod.ts";
import { sourceText } from "../support/bytes.ts";
import { inFolder, writeTree } from "../support/folders.ts";

const text = (bytes: number, seed: number): string => new TextDecoder().decode(sourceText(bytes, seed));

/** The files of a small project: a page, two scripts of which one is loaded later, styles, an image and a worker. */
export const project: Readonly<Record<string, string>> = {
  "index.html": '<!doctype html><title>Mill</title><script type="module" src="/src/main.js"></script>',
  "src/main.js": `import "./style.css"; import logo from "./logo.svg"; console.log(logo, ${
    JSON.stringify(text(3000, 1))
  });
import("./lazy.js").then(({ turn }) => turn());
`,
  "src/lazy.js": `export const turn = () => console.log(${JSON.stringify(text(3000, 2))});\n`,
  "src/style.css": `body::after { content: ${JSON.stringify(text(1500, 3))} }\n`,
  "src/logo.svg": `<svg xmlns="http://www.w3.org/2000/svg"><desc>${text(6000, 4)}</desc></svg>`,
  "src/worker.js": `postMessage(${JSON.stringify(text(1500, 5))});\n`,
  "public/library-B1946AC9.js": `console.log(${JSON.stringify(text(1500, 6))});\n`,
};

/** A copy of the project for a test, removed after it. */
export function inProject(
  use: (folder: string) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  return inFolder(async (folder) => {
    await writeTree(folder, { ...project, ...files });
    await use(folder);
  });
}

/** Compresses little and fast. */
export const quick = { formats: ["gzip"], levels: { gzip: 1 }, jobs: 1 } as const;
/** Options that compress nothing, for tests of names in the manifest. */
export const namesOnly = { minSize: 1_000_000 } as const;

/** Returns the paths that the manifest in a folder calls immutable, and all others, with hashes as `*`. */
export async function namedIn(...parts: string[]): Promise<{ immutable: string[]; other: string[] }> {
  const { files } = (await readManifest(join(...parts)))!;
  const named = (isWanted: boolean) =>
    Object.entries(files).filter(([, { immutable = false }]) => immutable === isWanted).map(([path]) => {
      return path.startsWith("library-") ? path : path.replace(/-[\w-]{8}(?=\.)/, "-*");
    }).sort();
  return { immutable: named(true), other: named(false) };
}
