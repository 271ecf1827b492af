/**
 * Bundles the script and the style of the pages that `millrace precompress --report` writes, from `lib/report/page/`, into
 * `lib/report/page_assets.ts`: a module of strings, which works wherever the package is loaded from.
 *
 *   npm run build:report
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import process from "node:process";
import type { build as Build } from "esbuild";
import { root } from "./root.ts";

// Deno imports what package.json lists as a development dependency only so.
const { build } = createRequire(import.meta.url)("esbuild") as { build: typeof Build };

const output = join(root, "lib/report/page_assets.ts");

/** Returns the text of the module as the sources make it. */
export async function pageAssets(): Promise<string> {
  return `/** The script of a report, made of \`lib/report/page/main.ts\` by \`npm run build:report\`. */
export const script: string = ${JSON.stringify(await bundled("main.ts"))};

/** The style of a report, made of \`lib/report/page/page.css\`. */
export const style: string = ${JSON.stringify(await bundled("page.css"))};
`;
}

/** Returns the text of the module as it is. */
export function currentPageAssets(): string {
  return readFileSync(output, "utf8");
}

async function bundled(name: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`lib/report/page/${name}`],
    bundle: true,
    minify: true,
    format: "iife",
    target: name.endsWith(".css") ? undefined : "es2023",
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
    write: false,
  });
  const text = outputFiles[0]!.text.trim();
  // In a page, these would end the element.
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error(`${name} holds what ends its element`);
  return text;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(output, await pageAssets());
