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

/** Two projects of users, in folders of their own. */
export interface Project {
  /** The project with all packages of the repository. */
  readonly folder: string;
  /** The project with `@millrace/streams` and its dependencies. */
  readonly pages: string;
  remove(): void;
}

/**
 * Makes projects that have `@millrace/streams`, made of a repository as it stands.
 *
 * On Node and Bun the package is what is published to npm, its modules bundled, which start in half of the time that
 * the sources take; on Deno it is the same modules, as on JSR, or the sources, five times as many.
 *
 * @param root The repository's folder.
 * @param hasTypes Whether Deno is to check the types of the package, which it reads in the sources.
 */
export async function makeProject(root: string, hasTypes: boolean = isLong): Promise<Project> {
  const both = mkdtempSync(join(tmpdir(), "millrace-docs-"));
  const [folder, pages] = [join(both, "all"), join(both, "pages")];
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  await fillProject(root, folder, { ...dependencies, ...devDependencies }, hasTypes);
  await fillProject(root, pages, dependencies, hasTypes);
  return { folder, pages, remove: () => rmSync(both, { recursive: true, force: true, maxRetries: 3 }) };
}

async function fillProject(root: string, folder: string, packages: object, hasTypes: boolean): Promise<void> {
  mkdirSync(folder);
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  writeJson(join(folder, "package.json"), { name: "docs", private: true, type: "module" });
  linkPackages(root, folder, Object.keys(packages));
  await writePackage(root, join(folder, "node_modules/@millrace/streams"));
  const built = join(folder, "built");
  if (!hasTypes) cpSync(await builtPackage(), built, { recursive: true });
  const ours = Object.entries(manifest.exports).map(([subpath, path]) => {
    const module = hasTypes ? join(root, path) : join(built, path.replace(/\.ts$/, ".js"));
    return [`@millrace/streams${subpath.slice(1)}`, pathToFileURL(module).href];
  });
  const imports = { ...manifest.imports, ...Object.fromEntries(ours) };
  writeJson(join(folder, "deno.json"), { nodeModulesDir: "manual", lock: false, imports });
}

function linkPackages(root: string, folder: string, names: readonly string[]): void {
  for (const name of names) {
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
