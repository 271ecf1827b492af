/**
 * Makes the package for JSR of what `npm run build` has built: Deno loads a few bundled modules in a third of the time that
 * it takes for each source by itself.
 *
 *   node .ci/jsr_package.ts FOLDER      makes the folder, in which `deno publish` publishes; what git ignores it would leave out
 */
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { root } from "./root.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
}

/** Modules that Deno does not load: pages do, and bundlers for them. */
const FOR_PAGES = /^(?:browser\/(?!wasm\/\w+\.js$)|modules\/)/;

const [folder = ""] = process.argv.slice(2);
if (folder === "" || existsSync(folder)) {
  console.error("usage: node .ci/jsr_package.ts FOLDER, which must not be there");
  process.exit(2);
}
makePackage();

function makePackage(): void {
  const manifest = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as Manifest;
  const { name, version, license } = manifest;
  const entries = Object.entries(manifest.exports).map(([subpath, path]) => [subpath, path.replace(/\.ts$/, ".js")]);
  const paths = new Set(entries.map(([, path]) => path));
  const built = globSync("**/*.{js,d.ts}", { cwd: join(root, "dist") }).filter((path) => !FOR_PAGES.test(path));
  if (built.length === 0) throw new Error("there is nothing in dist/: npm run build first");
  for (const path of built) {
    const text = readFileSync(join(root, "dist", path), "utf8").replace(/^\/\/# sourceMappingURL=.*\n/m, "");
    if (path.endsWith(".d.ts")) write(path, withNamesOfFiles(text));
    else write(path, paths.has(`./${path}`) ? withTypes(path, text) : text);
  }
  for (const path of globSync("*.{d.ts,txt}", { cwd: join(root, "lib/codecs/wasm") })) {
    cpSync(join(root, "lib/codecs/wasm", path), join(folder, "browser/wasm", path));
  }
  const papers = ["README.md", "CHANGELOG.md", "LICENSE", ...globSync("lib/**/*.{md,svg}", { cwd: root })];
  // Nothing imports the sources: stacks of the npm package name their lines.
  const sources = ["mod.ts", ...globSync("lib/**/*.ts", { cwd: root, exclude: ["lib/codecs/wasm"] })];
  for (const path of [...papers, ...sources]) {
    cpSync(join(root, path), join(folder, path));
  }
  const exports = Object.fromEntries(entries);
  const imports = Object.fromEntries(Object.entries(manifest.imports).filter(([specifier]) => specifier[0] !== "#"));
  write("deno.json", JSON.stringify({ name, version, license, exports, imports }, null, 2));
}

function write(path: string, text: string): void {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
}

/** Returns a module of a subpath, which says where its types are. */
function withTypes(path: string, text: string): string {
  const types = `/* @ts-self-types="./${basename(path).replace(/\.js$/, ".d.ts")}" */\n`;
  const [command = ""] = /^#!.*\n/.exec(text) ?? [];
  return command + types + text.slice(command.length);
}

/** Types that import others by the names of the files that these are in. */
function withNamesOfFiles(text: string): string {
  return text.replace(/((?:from|import)[\s(]*["']\.\.?\/[^"']*)\.js(["'])/g, "$1.d.ts$2");
}
