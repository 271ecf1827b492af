import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build, type BuildOptions } from "esbuild";
import { builtPackage } from "../support/built_package.ts";
import { root } from "../support/runtime.ts";

const pages = join(root, "tests/browser/page");

/** The server's files, by path. */
export type Files = Map<string, Uint8Array>;

/** The build options common to both pages. */
const shared: BuildOptions = {
  bundle: true,
  format: "esm",
  target: "es2023",
  splitting: true,
  minify: true,
  outdir: "/",
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  logLevel: "warning",
};

const main = (library: string, page: string): string => `
import * as millrace from "${library}";
import { start } from "${page}";
start(millrace, new URL("./worker.js", import.meta.url));`;
const worker = (library: string, page: string): string => `
import * as millrace from "${library}";
import { startWorker } from "${page}";
startWorker(millrace);`;

/** Returns the page of a consumer whose bundler uses the condition `browser`, with codecs in separate files. */
export async function bundledSite(): Promise<Files> {
  const { outputFiles } = await buildPage(join(await builtPackage(), "modules/mod.js"), false);
  return withPage(outputFiles);
}

/** Returns a page without a bundler: the modules that it imports are as the package has them. */
export async function unbundledSite(): Promise<Files> {
  const browser = join(await builtPackage(), "browser");
  const { outputFiles } = await buildPage("/millrace/mod.js", true);
  const files = withPage(outputFiles);
  for (const path of globSync("**/*.{js,wasm}", { cwd: browser })) {
    files.set(`/millrace/${path.replaceAll("\\", "/")}`, readFileSync(join(browser, path)));
  }
  return files;
}

/** Bundles the page's own scripts, with the library or around it. */
function buildPage(library: string, isExternal: boolean): Promise<{ outputFiles: readonly Output[] }> {
  const entries: Readonly<Record<string, string>> = {
    main: main("@millrace/streams", "./page.ts"),
    worker: worker("@millrace/streams", "./worker.ts"),
  };
  return build({
    ...shared,
    write: false,
    entryPoints: { main: "entry:main", worker: "entry:worker" },
    plugins: [{
      name: "consumer",
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /^entry:/ }, ({ path }) => ({ path: path.slice("entry:".length), namespace: "entry" }));
        onLoad({ filter: /./, namespace: "entry" }, ({ path }) => ({ contents: entries[path], resolveDir: pages }));
        onResolve({ filter: /^@millrace\/streams$/ }, () => ({ path: library, external: isExternal }));
      },
    }],
  });
}

interface Output {
  readonly path: string;
  readonly contents: Uint8Array;
}

function withPage(outputs: readonly Output[]): Files {
  const files: Files = new Map(outputs.map(({ path, contents }) => [path.replaceAll("\\", "/"), contents]));
  for (const name of ["index.html", "style.css"]) files.set(`/${name}`, readFileSync(join(pages, name)));
  return files;
}
