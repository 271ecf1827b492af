import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
 * Makes a project in which `@millrace/streams` is the sources of a repository, without a build, and which has the
 * packages that are installed there.
 *
 * @param root The repository's folder.
 */
export function makeSourceProject(root: string): Project {
  const folder = mkdtempSync(join(tmpdir(), "millrace-docs-"));
  const manifest: Manifest = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  writeJson(join(folder, "package.json"), { name: "docs", private: true, type: "module" });
  linkPackages(root, folder);
  writePackage(root, join(folder, "node_modules/@millrace/streams"), manifest);
  // Deno loads no file: URL from within node_modules, and no type it would have to strip there.
  const ours = Object.entries(manifest.exports).map(([subpath, path]) => {
    return [`@millrace/streams${subpath.slice(1)}`, pathToFileURL(join(root, path)).href];
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

/** A package whose modules pass on those of the repository: Node strips no types from what is in node_modules itself. */
function writePackage(root: string, folder: string, manifest: Manifest): void {
  mkdirSync(folder, { recursive: true });
  const exports: Record<string, object> = {};
  for (const [subpath, path] of Object.entries(manifest.exports)) {
    const name = subpath === "." ? "./mod" : subpath;
    const source = join(root, path);
    writeFileSync(join(folder, `${name}.js`), `export * from ${JSON.stringify(pathToFileURL(source).href)};\n`);
    writeFileSync(join(folder, `${name}.d.ts`), `export * from ${JSON.stringify(source)};\n`);
    exports[subpath] = { types: `${name}.d.ts`, default: `${name}.js` };
  }
  writeJson(join(folder, "package.json"), { name: "@millrace/streams", version: "0.0.0", type: "module", exports });
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, JSON.stringify(value, undefined, 2) + "\n");
}
