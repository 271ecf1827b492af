import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
}

/** A project of a user, in a folder of its own. */
export interface Project {
  readonly folder: string;
  remove(): void;
}

/**
 * Makes a project that has `@millrace/streams`, made of a repository as it stands, and the packages installed there.
 *
 * On Node and Bun the package is what is published to npm, its modules bundled, which start in half of the time that
 * the sources take; on Deno it is the sources, as on JSR, but for packages that ask for ours by `require`. The types are
 * those of the sources.
 *
 * @param root The repository's folder.
 */
export async function makeProject(root: string): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-docs-"));
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  writeJson(join(folder, "package.json"), { name: "docs", private: true, type: "module" });
  linkPackages(root, folder);
  writePackage(root, packageFolder(folder), manifest);
  await buildModules(root, packageFolder(folder), manifest);
  const ours = Object.entries(manifest.exports).map(([subpath, path]) => {
    return [`@millrace/streams${subpath.slice(1)}`, pathToFileURL(join(root, path)).href];
  });
  const imports = { ...manifest.imports, ...Object.fromEntries(ours) };
  writeJson(join(folder, "deno.json"), { nodeModulesDir: "manual", lock: false, imports });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

function packageFolder(project: string): string {
  return join(project, "node_modules/@millrace/streams");
}

function linkPackages(root: string, folder: string): void {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
}

function writePackage(root: string, folder: string, manifest: Manifest): void {
  mkdirSync(folder, { recursive: true });
  const exports: Record<string, object> = {};
  for (const [subpath, path] of Object.entries(manifest.exports)) {
    mkdirSync(dirname(join(folder, moduleName(subpath))), { recursive: true });
    writeFileSync(join(folder, `${moduleName(subpath)}.d.ts`), `export * from ${JSON.stringify(join(root, path))};\n`);
    exports[subpath] = { types: `./${moduleName(subpath)}.d.ts`, default: `./${moduleName(subpath)}.js` };
  }
  exports["./codecs/*.wasm"] = { types: "./wasm/wasm.d.ts", default: "./wasm/*.wasm" };
  writeJson(join(folder, "package.json"), { name: "@millrace/streams", version: "0.0.0", type: "module", exports });
}

async function buildModules(root: string, folder: string, manifest: Manifest): Promise<void> {
  const { WORKERS } = await import("../../.ci/bundle.ts");
  const { bundleForServers } = await import("../../.ci/server_build.ts");
  const codecs = join(folder, "wasm");
  const sources = Object.entries(manifest.exports).map(([subpath, path]) => [moduleName(subpath), join(path)]);
  await bundleForServers({
    entries: { ...Object.fromEntries([...sources, ...WORKERS.map((path) => [path.replace(/\.ts$/, ""), path])]) },
    outdir: folder,
    codecs,
  });
  cpSync(join(root, "lib/codecs/wasm"), codecs, { recursive: true });
  const { writeWasm } = await import("../../.ci/wasm_files.ts");
  writeWasm(codecs);
}

function moduleName(subpath: string): string {
  return subpath === "." ? "mod" : subpath.slice(2);
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value, undefined, 2) + "\n");
}
