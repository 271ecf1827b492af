import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import test, { after } from "node:test";
import { gunzipSync } from "node:zlib";
import { build, type BuildOptions, context, type Plugin, stop } from "esbuild";
import { precompress } from "../../lib/build/esbuild.ts";
import { listed, writeTree } from "../support/folders.ts";
import { needs } from "../support/needs.ts";
import { inProject, namedIn, namesOnly, quick } from "./project.ts";

after(() => stop());

/** Returns the options of a build of the project into `dist`. */
function optionsFor(root: string, options: BuildOptions = {}): BuildOptions {
  const plugins: Plugin[] = [precompress(namesOnly)];
  return {
    absWorkingDir: root,
    entryPoints: ["src/main.js", "src/lazy.js", "index.html"],
    outdir: "dist",
    bundle: true,
    splitting: true,
    format: "esm",
    sourcemap: true,
    loader: { ".svg": "file", ".html": "copy" },
    logLevel: "silent",
    plugins,
    ...options,
  };
}

test("a second precompress() for one folder of esbuild is refused", () =>
  inProject(async (root) => {
    const plugins = [precompress(namesOnly), { ...precompress({ ...namesOnly, formats: ["gzip"] }) }] as Plugin[];
    const options: BuildOptions = { absWorkingDir: root, entryPoints: ["src/lazy.js"], outdir: "dist", plugins };
    await assert.rejects(build({ ...options, logLevel: "silent" }), /two precompress\(\) compress to one folder/);
  }));

test("a second precompress() for one folder is refused however its path is spelled, a missing one below a link too", {
  skip: needs("links"),
}, () =>
  inProject(async (root) => {
    await mkdir(join(root, "real/inner"), { recursive: true });
    await symlink("real/inner", join(root, "link"));
    const spellings = ["real/new", "./real//new/", "link/../new", join(root, "real/inner/../new")];
    for (const [i, out] of spellings.entries()) {
      const plugins = [precompress({ ...namesOnly, out: spellings[0] }), precompress({ ...quick, out })] as Plugin[];
      const options: BuildOptions = { absWorkingDir: root, entryPoints: ["src/lazy.js"], outdir: "dist", plugins };
      await assert.rejects(build({ ...options, logLevel: "silent" }), /two precompress\(\)/, spellings[i]);
    }
  }));

test("after a build with esbuild the folder is compressed, and the manifest says which names have hashes", () =>
  inProject(async (root) => {
    await writeTree(root, { "dist/robots-abcd1234.txt": "mill ".repeat(400) });
    await build(optionsFor(root, { plugins: [precompress(quick)] }));
    assert.deepEqual(await namedIn(root, "dist"), {
      immutable: ["logo-*.svg"],
      other: [
        ...["index.html", "robots-*.txt", "src/lazy.js", "src/lazy.js.map"],
        ...["src/main.css", "src/main.css.map", "src/main.js", "src/main.js.map"],
      ],
    });
    assert.ok(existsSync(join(root, "dist/src/main.js.gz")));
  }));

test("entry points, shared chunks and styles of esbuild are immutable where their names have hashes", () =>
  inProject(async (root) => {
    await build(optionsFor(root, {
      entryPoints: ["src/main.js", "src/lazy.js"],
      entryNames: "entry/[name]-[hash]",
      chunkNames: "chunks/[name]",
      assetNames: "assets/[hash]-[name]",
      sourcemap: false,
    }));
    const { immutable, other } = await namedIn(root, "dist");
    assert.deepEqual(immutable.map((path) => path.replace(/\w{8}-/, "*-")), [
      ...["assets/*-logo.svg", "entry/lazy-*.js", "entry/main-*.css", "entry/main-*.js"],
    ]);
    assert.deepEqual(other, []);
  }));

test("a shared chunk is not taken for hashed that is not", () =>
  inProject(async (root) => {
    const shared = { entryPoints: ["src/a.js", "src/b.js"], sourcemap: false };
    await build(optionsFor(root, shared));
    assert.deepEqual((await namedIn(root, "dist")).immutable, ["chunk-*.js"]);
    await build(optionsFor(root, { ...shared, outdir: "plain", chunkNames: "shared/[name]" }));
    assert.deepEqual((await namedIn(root, "plain")).immutable, []);
  }, {
    "src/a.js": 'import { turn } from "./lazy.js"; turn();',
    "src/b.js": 'import { turn } from "./lazy.js"; turn(); turn();',
  }));

test("scripts and styles of dynamic imports are known by their hashes, and entry points at the top by theirs", () =>
  inProject(async (root) => {
    const options = { entryPoints: ["main.js", "sub/page.js"], sourcemap: false };
    await build(optionsFor(root, options));
    assert.deepEqual(await namedIn(root, "dist"), {
      immutable: ["later-*.css", "later-*.js"],
      other: ["main.css", "main.js", "sub/page.js"],
    });
    await build(optionsFor(root, { ...options, outdir: "all", entryNames: "[dir]/[name]-[hash]" }));
    assert.deepEqual(await namedIn(root, "all"), {
      immutable: ["later-*.css", "later-*.js", "main-*.css", "main-*.js", "sub/page-*.js"],
      other: [],
    });
    await build(optionsFor(root, { ...options, outdir: "plain", chunkNames: "chunks/[name]" }));
    assert.deepEqual((await namedIn(root, "plain")).immutable, []);
  }, {
    "main.js": 'import "./main.css"; import("./later.js"); import("./sub/page.js");',
    "main.css": "a { color: red }",
    "later.js": 'import "./later.css"; export const turn = 1;',
    "later.css": "b { color: red }",
    "sub/page.js": "export const page = 1;",
  }));

test("lazy modules are known by their hashes whatever esbuild named them after: a folder, or a path of a plugin", () =>
  inProject(async (root) => {
    const virtual: Plugin = {
      name: "virtual",
      setup(build) {
        build.onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: "virtual" }));
        build.onLoad({ filter: /./, namespace: "virtual" }, () => ({ contents: "export const turn = 1;" }));
      },
    };
    const plugins = [virtual, precompress(namesOnly)] as Plugin[];
    const options = { entryPoints: [{ in: "main.js", out: "app" }, "sw-REGISTER.js"], sourcemap: false, plugins };
    await build(optionsFor(root, options));
    assert.deepEqual(await namedIn(root, "dist"), {
      immutable: ["home-*.css", "home-*.js", "wheels-*.js"],
      other: ["app.css", "app.js", "sw-*.js"],
    });
  }, {
    "main.js": 'import("./pages/home/index.js"); import("virtual:mill/wheels"); import("./sw-REGISTER.js");',
    "pages/home/index.js": 'import "./style.css"; export const turn = 1;',
    "pages/home/style.css": "b { color: red }",
    "sw-REGISTER.js": "export const page = 1;",
  }));

test("a build into one file compresses its folder, and one that writes nothing, nothing", () =>
  inProject(async (root) => {
    const single: BuildOptions = { entryPoints: ["src/lazy.js"], splitting: false, outdir: undefined };
    await build(optionsFor(root, { ...single, outfile: "single/app.js" }));
    assert.deepEqual(await namedIn(root, "single"), { immutable: [], other: ["app.js", "app.js.map"] });
    await build(optionsFor(root, { write: false }));
    assert.ok(!existsSync(join(root, "dist")));
    await assert.rejects(build(optionsFor(root, { ...single, outfile: "app.js" })), (error: Error) => {
      assert.match(error.message, /it holds the whole project\. Set outdir to a folder of its own/);
      return true;
    });
  }));

test("the address of a cache is none of a folder below the project", () =>
  inProject(async (root) => {
    for (const [cache, wayOut] of [["s3://", "s3://BUCKET/PREFIX"], ["gs://mill/cache", "name a folder"]] as const) {
      await assert.rejects(build(optionsFor(root, { plugins: [precompress({ ...quick, cache })] })), (error: Error) => {
        assert.ok(
          error.message.includes(`cannot use ${cache} as a cache`) && error.message.includes(wayOut),
          error.message,
        );
        return true;
      });
    }
    await build(optionsFor(root, { plugins: [precompress({ ...quick, cache: "variants" })] }));
    assert.ok(existsSync(join(root, "variants")));
  }));

test("names with an extension of one's own are known by their hashes, too", () =>
  inProject(async (root) => {
    const outExtension = { ".js": ".min.js" };
    await build(optionsFor(root, { entryPoints: ["src/lazy.js"], entryNames: "[name]-[hash]", outExtension }));
    const { immutable, other } = await namedIn(root, "dist");
    assert.deepEqual([immutable, other], [["lazy-*.min.js"], ["lazy-*.min.js.map"]]);
  }));

test("each build of a context is compressed, so that no variant is stale, and no build that failed", () =>
  inProject(async (root) => {
    await assert.rejects(build(optionsFor(root, { entryPoints: ["src/missing.js"] })));
    assert.ok(!existsSync(join(root, "dist")));
    const watching = await context(
      optionsFor(root, {
        ...{ entryPoints: ["src/lazy.js"], sourcemap: false },
        plugins: [precompress({ ...quick, exclude: ["missing/**"] })],
      }),
    );
    assert.match((await watching.rebuild()).warnings[0]!.text, /exclude "missing\/\*\*" matches no file/);
    const variants = async () => (await listed(join(root, "dist"))).filter((path) => path.endsWith(".gz"));
    assert.deepEqual(await variants(), ["lazy.js.gz"]);
    await writeTree(root, { "src/lazy.js": `console.log("${"mill ".repeat(400)}")` });
    assert.deepEqual((await watching.rebuild()).warnings, [], "none is repeated");
    await watching.dispose();
    assert.deepEqual(
      gunzipSync(await readFile(join(root, "dist/lazy.js.gz"))),
      await readFile(join(root, "dist/lazy.js")),
    );
  }));
