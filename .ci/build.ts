/**
 * Builds the npm package: every module of the public API as ESM below `dist/`, one output a source, with its types.
 *
 *   npm run build
 *
 * One output a source rather than bundles: workers stay at their place beside the module that starts them, and a
 * consumer's bundler sees the same modules as ours and drops what is not used.
 */
import { spawnSync } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const GENERATED = "lib/codecs/wasm";

/** Leaves relative imports as they are, but for the extension that the outputs have. */
const outputExtensions: Plugin = {
  name: "output-extensions",
  setup(builder) {
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, kind }) => {
      return kind === "entry-point" ? undefined : { path: path.replace(/\.ts$/, ".js"), external: true };
    });
  },
};

async function buildModules(): Promise<number> {
  const sources = globSync("lib/**/*.ts", { cwd: root, exclude: (path) => path.includes(GENERATED) });
  await build({
    absWorkingDir: root,
    entryPoints: ["mod.ts", ...sources],
    outdir: dist,
    outbase: root,
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "es2023",
    legalComments: "none",
    plugins: [outputExtensions],
    logLevel: "warning",
  });
  cpSync(join(root, GENERATED), join(dist, GENERATED), {
    recursive: true,
    filter: (path) => !path.endsWith(".json"),
  });
  return sources.length + 1;
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
const count = await buildModules();
buildTypes();
console.log(`dist/ holds ${count} modules and their types`);
