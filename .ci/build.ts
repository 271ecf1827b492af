/**
 * Builds the npm package into `dist/`: a module for each subpath of the public API and the chunks that they share, the
 * types beside them, and in `dist/browser/` what pages import without a bundler.
 *
 *   npm run build
 *
 * Few and large modules, since runtimes take about half a millisecond for each; readable ones, since stack traces show
 * them. Only what pages download is minified.
 */
import { spawnSync } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { bundle, CODECS, dist, root, WHOLE, WORKER } from "./bundle.ts";

/** The sources of the subpaths, as the manifest tells their outputs. */
function publicSources(): string[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const outputs = Object.values(exports).map((target) => (target as { default?: string }).default ?? "");
  const modules = outputs.filter((path) => path !== "" && !path.startsWith("./dist/browser/"));
  return modules.map((path) => path.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts"));
}

/** The entry for a source: all of its folder, where folders are chunks. */
function entryOf(source: string): string {
  const [, folder = ""] = /^lib\/(\w+)\/mod\.ts$/.exec(source) ?? [];
  return WHOLE.includes(folder) ? `public:${folder}` : source;
}

function buildModules(): Promise<number> {
  const sources = [...publicSources(), WORKER];
  const entries = sources.map((source) => [source.replace(/\.ts$/, ""), entryOf(source)]);
  return bundle(Object.fromEntries(entries), dist, {});
}

/** What `.` exports, and the subpaths that it consists of. */
function buildForBrowsers(): Promise<number> {
  const entries = Object.fromEntries(WHOLE.map((folder) => [folder, `public:${folder}`]));
  return bundle({ ...entries, mod: "mod.ts" }, join(dist, "browser"), { minify: true, target: "es2022" });
}

function copyCodecs(): number {
  const names = globSync("*.js", { cwd: join(root, "lib/codecs/wasm") });
  for (const name of names) cpSync(join(root, "lib/codecs/wasm", name), join(CODECS, name));
  return names.length;
}

/** Types from tsc, which keeps the sources' extensions in declarations. */
function buildTypes(): void {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const project = join(root, ".ci/tsconfig.build.json");
  const { status } = spawnSync(process.execPath, [tsc, "--project", project], { stdio: "inherit" });
  if (status !== 0) process.exit(1); // tsc has said why
  for (const file of globSync("**/*.d.ts", { cwd: dist })) {
    const path = join(dist, file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace(/((?:from|import)[\s(]*["']\.\.?\/[^"']*)\.ts(["'])/g, "$1.js$2"));
  }
}

rmSync(dist, { recursive: true, force: true });
const count = await buildModules() + await buildForBrowsers() + copyCodecs();
buildTypes();
console.log(`dist/ holds ${count} modules and their types`);
