import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import test from "node:test";
import { version } from "../../lib/cli/version.ts";
import { root } from "./module_graph.ts";

interface Manifest {
  name: string;
  version: string;
  license: string;
}
interface NpmManifest extends Manifest {
  exports: Record<string, { types: string; workerd?: string; browser?: string; default: string }>;
  imports: Record<string, { browser: string; default: string }>;
  bin: Record<string, string>;
  scripts: Record<string, string>;
  dependencies?: Record<string, string>;
}
interface DenoManifest extends Manifest {
  imports?: Record<string, string>;
  exports: Record<string, string>;
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const npm = JSON.parse(read("package.json")) as NpmManifest;
const deno = JSON.parse(read("deno.json")) as DenoManifest;

test("package.json and deno.json agree on name, version and licence", () => {
  const { name, version, license } = npm;
  assert.deepEqual({ name: deno.name, version: deno.version, license: deno.license }, { name, version, license });
});

test("package.json and deno.json export the same subpaths, built from the same sources", () => {
  const sources = Object.fromEntries(
    Object.entries(npm.exports).filter(([subpath]) => !/^\.\/browser\/|\.wasm$/.test(subpath)).map(
      ([subpath, target]) => {
        const { default: output, browser, types, workerd } = target;
        assert.equal(types, output.replace(/\.js$/, ".d.ts"));
        if (browser !== undefined) assert.equal(browser, output.replace("./dist/", "./dist/modules/"));
        assert.equal(workerd, browser && output); // otherwise a worker would have two copies: other subpaths have one form only
        return [subpath, output.replace("./dist/", "./").replace(/\.js$/, ".ts")];
      },
    ),
  );
  assert.deepEqual(sources, deno.exports);
});

test("package.json exports modules for pages, with the types of the subpaths that they stand for", () => {
  for (const [subpath, { default: output, types }] of Object.entries(npm.exports)) {
    const [, name] = /^\.\/browser\/(\w+)\.js$/.exec(subpath) ?? [];
    if (name === undefined) continue;
    assert.equal(output, `./dist/browser/${name}.js`);
    assert.equal(types, (npm.exports[name === "mod" ? "." : `./${name}`] ?? npm.exports[`./codecs/${name}`]).types);
  }
});

test("package.json exports the codecs' modules, which are built beside their text", () => {
  const found = Object.entries(npm.exports).filter(([subpath]) => subpath.endsWith(".wasm"));
  const expected = globSync("lib/codecs/wasm/*.js", { cwd: root }).map((path) => {
    const name = basename(path, ".js").replace("deflate", "gzip");
    const types = "./dist/browser/wasm/wasm.d.ts";
    return [`./codecs/${name}.wasm`, { types, default: `./dist/browser/wasm/${name}.wasm` }] as const;
  });
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected));
});

test("every exported source exists", () => {
  assert.deepEqual(Object.values(deno.exports).filter((source) => !existsSync(join(root, source))), []);
});

test("the documentation of every exported source is checked, but the command's", () => {
  const checked = npm.scripts["check:docs"].split(" ").filter((word) => word.endsWith(".ts"));
  const sources = Object.entries(deno.exports).filter(([subpath]) => subpath !== "./cli");
  assert.deepEqual(checked.sort(), sources.map(([, source]) => source.replace("./", "")).sort());
});

test("README.md lists every subpath", () => {
  const listed = new Set([...read("README.md").matchAll(/`(\.\/[a-z0-9/]+)`/g)].map(([, subpath]) => subpath));
  assert.deepEqual(Object.keys(deno.exports).filter((subpath) => subpath !== "." && !listed.has(subpath)), []);
});

test("the command is the exported one", () => {
  assert.deepEqual(npm.bin, { millrace: npm.exports["./cli"].default.slice(2) });
});

test("modules with another form in browsers are all named, and both forms are there", () => {
  const forms = Object.values(npm.imports);
  for (const { browser, default: ordinary } of forms) {
    assert.equal(browser, ordinary.replace(/\.ts$/, ".browser.ts"));
    assert.ok(existsSync(join(root, browser)) && existsSync(join(root, ordinary)), ordinary);
  }
  const found = globSync("lib/**/*.browser.ts", { cwd: root }).map((path) => `./${path.replaceAll("\\", "/")}`);
  assert.deepEqual(forms.map(({ browser }) => browser).sort(), found.sort());
});

test("package.json and deno.json name the same dependencies and modules", () => {
  const dependencies = Object.entries(npm.dependencies ?? {});
  const expected = Object.fromEntries(dependencies.map(([name, range]) => [name, `npm:${name}@${range}`]));
  const own = Object.entries(npm.imports).map(([name, place]) => [name, place.default]);
  assert.deepEqual(deno.imports ?? {}, { ...Object.fromEntries(own), ...expected });
});

test("the command prints the manifests' version", () => {
  assert.equal(version, npm.version);
});

test("the lock file names no registry", () => {
  assert.ok(!read("package-lock.json").includes('"resolved"'));
});

test("the changelog has an entry for what is unreleased or for the version", () => {
  const headings = [...read("CHANGELOG.md").matchAll(/^## \[([^\]]+)\]/gm)].map(([, heading]) => heading);
  assert.ok(headings.includes("Unreleased") || headings.includes(npm.version));
});
