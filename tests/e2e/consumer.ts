import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../support/runtime.ts";

/** Makes an empty project that is a module. */
export async function makeProject(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), `{ "name": "consumer", "private": true, "type": "module" }\n`);
  return folder;
}

/** Makes a small site: a page, a style and a script, worth compressing. */
export async function makeSite(folder: string): Promise<string> {
  await mkdir(join(folder, "assets"), { recursive: true });
  const lines = Array.from({ length: 400 }, (_, i) => `.row-${i} { order: ${i * 7 % 400}; } /* the mill turns */`);
  await writeFile(join(folder, "assets/app.css"), lines.join("\n"));
  await writeFile(join(folder, "assets/app.js"), await readFile(join(root, "lib/codecs/options.ts")));
  await writeFile(join(folder, "index.html"), `<!doctype html><title>Mill</title>${"<p>water</p>".repeat(300)}`);
  return folder;
}

/** The files that precompressing the site of {@linkcode makeSite} adds. */
export const siteVariants: readonly string[] = ["assets/app.css", "assets/app.js", "index.html"]
  .flatMap((path) => [".br", ".gz", ".zst"].map((extension) => path + extension));
