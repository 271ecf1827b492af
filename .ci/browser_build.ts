import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
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
  const common: BuildOptions = { ...forBrowsers, minify: true };
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
        return { contents: pastFaces(readFileSync(path, "utf8"), path, "mod.ts"), loader: "ts" };
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
    plugins: [codecsAtOnce(), ownModules("browser")],
  });
  const { metafile } = await build({
    ...common,
    mangleCache: reached.mangleCache,
    entryPoints: [...entries, ...Object.keys(reached.metafile!.inputs)],
    outbase: root,
    plugins: [codecsAtOnce(), besideEachOther(outdir, codecs)],
  });
  const written = Object.keys(metafile!.outputs).map((path) => join(root, path));
  for (const path of written) {
    const module = new MappedText(readFileSync(path, "utf8"), undefined, outdir);
    module.minify();
    // What is left of imports whose uses only servers have. No module has side effects.
    writeFileSync(path, module.text.replace(/\bimport(["'`])\.[^"'`]*\1;/g, ""));
  }
  return written;
}

/** Marks imports as external, and renames them to the names of the outputs. */
function besideEachOther(outdir: string, codecs: string): Plugin {
  return {
    name: "beside-each-other",
    setup(builder) {
      builder.onResolve({ filter: /^(?:\.\.?\/|#)/ }, ({ path, resolveDir, kind }) => {
        if (kind === "entry-point") return undefined;
        const place = (to: string): string =>
          relative(join(outdir, relative(root, resolveDir)), to).replaceAll("\\", "/");
        if (path.startsWith("./wasm/")) return { path: place(join(codecs, basename(path))), external: true };
        const source = path.startsWith("#") ? placeOf(path, "browser") : join(resolveDir, path);
        const output = join(outdir, relative(root, source)).replace(/\.ts$/, ".js");
        return { path: place(output).replace(/^(?!\.)/, "./"), external: true };
      });
    },
  };
}
