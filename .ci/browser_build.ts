import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { bundle, root } from "./bundle.ts";
import { ownModules, placeOf } from "./own_modules.ts";
import { mangledNames } from "./mangled_names.ts";
import { pastFaces } from "./past_faces.ts";
import { MappedText } from "./source_maps.ts";
import { writeCodecs } from "./wasm_files.ts";

/** The parts that run in browsers: the exports of `.`. */
const PARTS: readonly string[] = ["streams", "batch", "text", "codecs"];

/** The parts of `codecs` that have one codec. */
const CODECS: readonly string[] = ["brotli", "gzip", "zstd"];

const forBrowsers: BuildOptions = {
  platform: "browser",
  target: "es2022",
  legalComments: "none",
  mangleProps: new RegExp(`^(?:${mangledNames.join("|")})$`),
};

/**
 * Makes what a page imports without a bundler: `mod.js`, one module for each of its parts and codecs, `install.js`, and below them `chunks/`, and
 * `wasm/` for the codecs that are used, as text and as `.wasm` files. The folder is complete and can be served from anywhere.
 *
 * @returns the paths of all that was written.
 */
export async function buildBrowser(outdir: string): Promise<string[]> {
  const codecs = join(outdir, "wasm");
  const parts = Object.fromEntries(PARTS.map((part) => [part, `lib/${part}/mod.ts`]));
  const common: BuildOptions = { ...forBrowsers, define: BROWSER, minify: true };
  const written = await bundle({
    entries: { ...parts, mod: "mod.ts", install: "lib/streams/install.ts" },
    outdir,
    codecs,
    options: { ...common, plugins: [pastInternalFaces()] },
  });
  // The codecs are bundled separately, each into one file: otherwise pages with streams would need another request for
  // the code that both share.
  const ofCodecs = await bundle({
    entries: Object.fromEntries(CODECS.map((codec) => [codec, `lib/codecs/${codec}.ts`])),
    outdir,
    codecs,
    options: { ...common, splitting: false, plugins: [codecsAtOnce()] },
  });
  mkdirSync(codecs, { recursive: true });
  return [...written, ...ofCodecs, ...await writeCodecs(codecs)];
}

/** Lets each part load what it needs of the parts below it, rather than all that their `internal.ts` lead to. */
function pastInternalFaces(): Plugin {
  return {
    name: "past-internal-faces",
    setup(builder) {
      builder.onLoad({ filter: /lib[\\/].*\.ts$/ }, ({ path }) => {
        return { contents: asInBrowsers(pastFaces(readFileSync(path, "utf8"), path, "mod.ts")), loader: "ts" };
      });
    },
  };
}

/**
 * Lets the entries of one codec import it at once: service workers may not load it later, and bundlers leave out that of
 * encoder and decoder which is not used.
 */
function codecsAtOnce(): Plugin {
  return {
    name: "codecs-at-once",
    setup(builder) {
      const filter = new RegExp(`lib[\\\\/]codecs[\\\\/](?:${CODECS.join("|")})\\.ts$`);
      builder.onLoad({ filter }, ({ path }) => {
        let imports = "";
        const source = readFileSync(path, "utf8").replace(/\bimport\(("\.\/wasm\/(\w+)\.js")\)/g, (_, from, name) => {
          imports += `import { inflate as ${name}_inflate, wasm as ${name} } from ${from};`;
          return `({ wasm: ${name}, inflate: ${name}_inflate })`;
        });
        return { contents: imports + source, loader: "ts" };
      });
    },
  };
}

/** The constants of `#streams/host` in browsers. */
const BROWSER = { hasReadMany: "false", isTunedToBun: "false", isAlwaysEager: "true" };

/** Puts constants of browsers in the place of their imports, so that what only other hosts need is left out before linking. */
function asInBrowsers(text: string): string {
  return text.replace(/^import \{([^}]*)\} from "#streams\/host";/gm, (_, names: string) => {
    return `import {${names.split(",").filter((name) => !Object.hasOwn(BROWSER, name.trim()))}} from "#streams/host";`;
  });
}

/** Lets modules for bundlers have the constants of browsers. */
function constantsOfBrowsers(): Plugin {
  return {
    name: "constants-of-browsers",
    setup(builder) {
      builder.onLoad({ filter: /lib[\\/]streams[\\/].*\.ts$/ }, ({ path }) => {
        return { contents: asInBrowsers(readFileSync(path, "utf8")), loader: "ts" };
      });
    },
  };
}

/**
 * Makes what bundlers for browsers take: a module of each source, so that they leave out what a page does not use.
 *
 * @param codecs the folder of the codecs' modules.
 * @returns the paths of all that was written.
 */
export async function buildBundlerModules(outdir: string, codecs: string): Promise<string[]> {
  const entries = ["mod.ts", "lib/streams/install.ts", ...CODECS.map((codec) => `lib/codecs/${codec}.ts`)];
  const common: BuildOptions = {
    ...forBrowsers,
    define: BROWSER,
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    outdir,
    metafile: true,
  };
  // Linked as one, so that a property has one short name in all modules, which are linked apart below.
  const reached = await build({
    ...common,
    entryPoints: entries,
    splitting: true,
    mangleCache: {},
    write: false,
    external: ["./wasm/*"],
    plugins: [codecsAtOnce(), constantsOfBrowsers(), ownModules("browser")],
  });
  // Each by itself, not linked: esbuild would make variables of constants, whose values bundlers put in other modules.
  const { metafile } = await build({
    ...common,
    bundle: false,
    treeShaking: true,
    mangleCache: reached.mangleCache,
    entryPoints: [...entries, ...Object.keys(reached.metafile!.inputs)],
    outbase: root,
    plugins: [codecsAtOnce(), constantsOfBrowsers()],
  });
  const written = Object.keys(metafile!.outputs).map((path) => join(root, path));
  for (const path of written) {
    const module = new MappedText(readFileSync(path, "utf8"), undefined, outdir);
    module.replace(SPECIFIER, (_, before, specifier) => `${before}"${placeFrom(path, specifier, outdir, codecs)}"`);
    module.minify();
    // What is left of imports whose uses only servers have. No module has side effects.
    writeFileSync(path, module.text.replace(/\bimport(["'`])\.[^"'`]*\1;/g, ""));
  }
  return written;
}

/** A specifier of another module of the package, behind what imports it. */
const SPECIFIER = /(\bfrom |\bimport\(|^import )"([.#][^"]*)"/gm;

/** Returns the place of an imported module beside the output at `path`, or in the folder of codecs. */
function placeFrom(path: string, specifier: string, outdir: string, codecs: string): string {
  const folder = dirname(path);
  const place = (to: string): string => relative(folder, to).replaceAll("\\", "/").replace(/^(?!\.)/, "./");
  if (specifier.startsWith("./wasm/")) return place(join(codecs, basename(specifier)));
  const source = specifier.startsWith("#")
    ? placeOf(specifier, "browser")
    : join(root, relative(outdir, folder), specifier);
  return place(join(outdir, relative(root, source)).replace(/\.ts$/, ".js"));
}
