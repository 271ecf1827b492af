import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsrRegistry } from "../../e2e/jsr_registry.ts";
import { packTarball } from "../../e2e/tarball.ts";

interface Package {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/**
 * Publishes packages of a checkout of denoland/std, and those that they import, to a registry: as their sources are, but
 * that imports of each other are named in full.
 */
export async function publishStd(checkout: string, wanted: readonly string[], registry: JsrRegistry): Promise<void> {
  const all = packagesOf(checkout);
  const published = new Set<string>();
  const publish = async (name: string): Promise<void> => {
    if (published.has(name)) return;
    published.add(name);
    const found = all.get(name);
    if (!found) throw new TypeError(`${checkout} has no package ${name}`);
    const { files, imports } = sourcesOf(found, all);
    await send(found, files, registry);
    for (const imported of imports) await publish(imported);
  };
  for (const name of wanted) await publish(name);
}

function packagesOf(checkout: string): Map<string, Package> {
  const packages = globSync("*/deno.json", { cwd: checkout }).map((path) => {
    const { name, version } = JSON.parse(readFileSync(join(checkout, path), "utf8"));
    return { name, version, folder: join(checkout, path, "..") };
  });
  return new Map(packages.map((each) => [each.name, each]));
}

/** Returns the files of a package that are no tests, and which packages they import. */
function sourcesOf(
  { folder }: Package,
  all: ReadonlyMap<string, Package>,
): { files: Map<string, Uint8Array>; imports: ReadonlySet<string> } {
  const imports = new Set<string>();
  const files = new Map<string, Uint8Array>();
  for (const path of globSync("**/*.{ts,js,mjs,json}", { cwd: folder })) {
    if (/_test\.ts$|testdata|_wasm\/target/.test(path)) continue;
    const source = readFileSync(join(folder, path), "utf8").replace(
      /(\bfrom\s*|\bimport\s*\(\s*)"(@std\/[\w-]+)(\/[^"]*)?"/g,
      (whole, before, name, rest = "") => {
        const version = all.get(name)?.version;
        if (version === undefined) return whole; // in an example that is out of date
        imports.add(name);
        return `${before}"jsr:${name}@^${version}${rest}"`;
      },
    );
    files.set(path, new TextEncoder().encode(source));
  }
  return { files, imports };
}

async function send({ name, version }: Package, files: Map<string, Uint8Array>, registry: JsrRegistry): Promise<void> {
  const [scope, short] = name.slice(1).split("/");
  const url = new URL(`api/scopes/${scope}/packages/${short}/versions/${version}`, registry.url);
  const headers = { authorization: `Bearer ${registry.token}` };
  const response = await fetch(url, { method: "POST", headers, body: packTarball(files) });
  assert.ok(response.ok, await response.text());
}
