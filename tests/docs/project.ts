import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { builtPackage } from "../support/built_package.ts";
import { isLong } from "../support/long_run.ts";

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
 * the sources take; on Deno it is the same modules, as on JSR, or the sources, five times as many.
 *
 * @param root The repository's folder.
 * @param hasTypes Whether Deno is to check the types of the package, which it reads in the sources.
 */
export async function makeProject(root: string, hasTypes: boolean = isLong): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-docs-"));
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  writeJson(join(folder, "package.json"), { name: "docs", private: true, type: "module" });
  linkPackages(root, folder);
  await writePackage(root, join(folder, "node_modules/@millrace/streams"));
  const built = join(folder, "built");
  if (!hasTypes) cpSync(await builtPackage(), built, { recursive: true });
  const ours = Object.entries(manifest.exports).map(([subpath, path]) => {
    const module = hasTypes ? join(root, path) : join(built, path.replace(/\.ts$/, ".js"));
    return [`@millrace/streams${subpath.slice(1)}`, pathToFileURL(module).href];
  });
  const imports = { ...manifest.imports, ...Object.fromEntries(ours) };
  writeJson(join(folder, "deno.json"), { nodeModulesDir: "manual", lock: false, imports });
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }) };
}

function linkPackages(root: string, folder: string): void {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
}

async function writePackage(root: string, folder: string): Promise<void> {
  cpSync(await builtPackage(), join(folder, "dist"), { recursive: true });
  const { name, type, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  writeJson(join(folder, "package.json"), { name, version: "0.0.0", type, exports });
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value, undefined, 2) + "\n");
}
