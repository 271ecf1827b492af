/**
 * Builds the npm package into `dist/`: a module for each subpath of the public API and the chunks that they share, the
 * types beside them; in `dist/browser/` what pages import without a bundler and the codecs, and in `dist/modules/` what bundlers for
 * browsers take.
 *
 *   npm run build
 *   node .ci/build.ts FOLDER      writes into that folder instead
 *
 * Few and large modules, since runtimes take about half a millisecond for each; those for servers without spaces, with
 * all names, and with source maps that lead stack traces to the lines of the sources.
 */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { buildBrowser, buildBundlerModules } from "./browser_build.ts";
import { root } from "./bundle.ts";
import { bundleForServers, publicSources, serverEntries } from "./server_build.ts";
import { MappedText, packedSources } from "./source_maps.ts";

const dist = resolve(process.argv[2] ?? join(root, "dist"));
/** The codecs' folder in the build for browsers, which must be complete. */
const codecs = join(dist, "browser/wasm");

/** Returns the specifier in `path` of a module that has another form in browsers: types are those of servers. */
function placeOf(name: string, path: string): string {
  const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return `./${relative(dirname(path), join(dist, imports[name].default))}`;
}

/**
 * Writes types by tsc, which keeps the sources' extensions in declarations; only those that the subpaths' types reach, and
 * with the comments of those that a subpath exports. Each declaration is of one source alone (`isolatedDeclarations`):
 * `npm run check` checks the sources.
 */
function buildTypes(): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const project = join(root, ".ci/tsconfig.build.json");
  const words = [tsc, "--project", project, "--outDir", dist, "--declarationMap", "--noCheck"];
  const { status } = spawnSync(process.execPath, words, { stdio: "inherit" });
  if (status !== 0) process.exit(1); // tsc has said why
  const reached = new Set(publicSources().map((source) => join(dist, source.replace(/\.ts$/, ".d.ts"))));
  const shown = new Set(reached);
  for (const path of shown) {
    const exported = readFileSync(path, "utf8").matchAll(/^export (?:type )?\{[^}]*\} from "([.#][^"]*)";$/gm);
    for (const [, specifier] of exported) {
      const place = specifier.startsWith("#") ? placeOf(specifier, path) : specifier;
      shown.add(join(dirname(path), place.replace(/\.ts$/, ".d.ts")));
    }
  }
  for (const path of reached) {
    const [text] = readFileSync(path, "utf8").split("//# sourceMappingURL=");
    const module = new MappedText(text, readFileSync(`${path}.map`, "utf8"), dirname(path));
    module.replace(/^(?: {4})+/g, (spaces) => " ".repeat(spaces.length / 2));
    module.replace(/"(#streams\/\w+)"/g, (_, name) => `"${placeOf(name, path)}"`);
    if (!shown.has(path)) module.removeLines(/^ *\/\*\*.*?\*\/\n/gms);
    const specifiers = /((?:from|import)[\s(]*["'])(\.\.?\/[^"']*)\.ts(["'])/g;
    for (const [, , specifier] of module.text.matchAll(specifiers)) {
      reached.add(`${join(dirname(path), specifier)}.d.ts`);
    }
    module.replace(specifiers, (_, before, specifier, after) => `${before}${specifier}.js${after}`);
    writeTypes(path, module);
  }
  for (const path of globSync("{*,lib/**/*}.d.ts{,.map}", { cwd: dist })) {
    if (!reached.has(join(dist, path.replace(/\.map$/, "")))) rmSync(join(dist, path));
  }
}

/** Writes declarations, with a map if the package holds their source. */
function writeTypes(path: string, types: MappedText): void {
  const map = packedSources.has(join(root, relative(dist, path).replace(/\.d\.ts$/, ".ts")))
    ? types.mapOfNamesAt(join(root, "dist", relative(dist, path)))
    : undefined;
  writeFileSync(path, types.text + (map === undefined ? "" : `//# sourceMappingURL=${basename(path)}.map\n`));
  if (map === undefined) rmSync(`${path}.map`);
  else writeFileSync(`${path}.map`, map);
}

/**
 * A manifest of the folder's own, with as much as modules need: Node reads the nearest one for each module, and would make
 * strings of all exports of the package each time.
 */
function writeManifest(): void {
  const { type, sideEffects } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const own = sideEffects.map((path: string) => path.replace("./dist/", "./"));
  writeFileSync(join(dist, "package.json"), JSON.stringify({ type, sideEffects: own }));
}

rmSync(dist, { recursive: true, force: true });
const written = [
  ...await bundleForServers({ entries: serverEntries(), outdir: dist, codecs }),
  ...await buildBrowser(join(dist, "browser")),
  ...await buildBundlerModules(join(dist, "modules"), codecs),
];
buildTypes();
writeManifest();
console.log(`dist/ holds ${written.length} modules and their types`);
