import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { createServer, type InlineConfig, type Logger, type Plugin as VitePlugin } from "vite";
import * as vite from "vite";
import { type Plugin as RolldownPlugin, rolldown } from "rolldown";
import { type Plugin as RollupPlugin, rollup } from "rollup";
import { precompress, type PrecompressPluginOptions } from "../../lib/build/vite.ts";
import { formatReport } from "../../lib/build/compress_output.ts";
import { type PrecompressReport, readManifest } from "../../lib/precompress/mod.ts";
import { inFolder, listed, writeTree } from "../support/folders.ts";
import { inProject, namedIn, namesOnly, project, quick } from "./project.ts";

interface Told {
  readonly lines: string[];
  readonly logger: Logger;
}

/** Returns a logger that keeps its messages. */
function keeping(): Told {
  const lines: string[] = [];
  const keep = (text: string): void => void lines.push(text);
  const logger = { info: keep, warn: keep, warnOnce: keep, error: keep, clearScreen() {}, hasErrorLogged: () => false };
  return { lines, logger: { ...logger, hasWarned: false } };
}

/** Builds a project with Vite, and returns the output of the terminal. */
async function build(root: string, config: InlineConfig, options: PrecompressPluginOptions = {}): Promise<string> {
  const { lines, logger } = keeping();
  const plugins = [precompress({ ...namesOnly, ...options })];
  await vite.build({ root, configFile: false, customLogger: logger, logLevel: "warn", plugins, ...config });
  return lines.join("\n");
}

test("after a build with Vite the folder is compressed, and the manifest says which names have hashes", () =>
  inProject(async (root) => {
    const printed = await build(root, { build: { sourcemap: true, manifest: true } }, { minSize: 1024, ...quick });
    assert.deepEqual(await namedIn(root, "dist"), {
      immutable: ["assets/index-*.css", "assets/index-*.js", "assets/lazy-*.js", "assets/logo-*.svg"],
      other: ["assets/index-*.js.map", "assets/lazy-*.js.map", "index.html", "library-B1946AC9.js"],
    });
    assert.ok((await listed(join(root, "dist"))).some((path) => /^assets\/index-.{8}\.js\.gz$/.test(path)));
    assert.match(printed, /^JavaScript +3 files +\d+\.\d\d kB {2}│ gzip: +\d+\.\d\d kB$/m);
    assert.match(printed, /^✓ \d+ files precompressed in \d/m);
  }));

test("a second precompress() for one folder is refused wherever it is named, and one for another folder is not", () =>
  inProject(async (root) => {
    const message = /two precompress\(\) compress to one folder: use one, with all formats/;
    const one = (options = {}): VitePlugin => precompress({ ...namesOnly, ...options }) as VitePlugin;
    const other = (options = {}): VitePlugin => one({ formats: ["gzip"], ...options });
    const configs: InlineConfig[] = [
      { plugins: [one(), other()] },
      { plugins: [{ ...one(), enforce: "post" }, { ...other(), enforce: "post" }] },
      { plugins: [Promise.resolve(one()), [other()]] },
      { plugins: [one()], build: { rollupOptions: { plugins: [other() as RolldownPlugin] } } },
      { plugins: [one({ out: "site" }), other({ out: "./site/" })] },
    ];
    for (const [i, config] of configs.entries()) await assert.rejects(build(root, config), message, String(i));
    await build(root, { plugins: [one(), other({ out: "other" })] });
    for (const options of [{}, { formats: ["gzip"] }]) await build(root, { plugins: [one(options)] }); // one after the other
    await assert.rejects(async () => {
      const plugins = [Promise.resolve(one()), other()] as RollupPlugin[];
      const bundle = await rollup({ input: join(root, "src/lazy.js"), plugins });
      await bundle.write({ dir: join(root, "dist") }).finally(() => bundle.close());
    }, message);
    await assert.rejects(async () => {
      const bundle = await rolldown({
        input: join(root, "src/lazy.js"),
        plugins: [one(), other()] as RolldownPlugin[],
      });
      await bundle.write({ dir: join(root, "dist") }).finally(() => bundle.close());
    }, message);

    const integrations = [precompress(namesOnly), precompress({ ...namesOnly, formats: ["gzip"] })];
    const logger = { info() {}, warn() {} };
    const buildWithAstro = async (): Promise<void> => {
      const config = { root: pathToFileURL(`${root}/`), build: { assets: "_astro" } };
      for (const { hooks } of integrations) hooks["astro:config:done"]({ config });
      const dir = pathToFileURL(join(root, "dist/"));
      for (const { hooks } of integrations) await hooks["astro:build:done"]({ dir, logger });
    };
    await assert.rejects(buildWithAstro(), message);
    integrations.pop();
    for (let i = 0; i < 2; i++) await buildWithAstro();
  }));

test("workers and assets of Vite are known by what it made their names of", () =>
  inProject(async (root) => {
    await build(root, {
      build: { rollupOptions: { output: { assetFileNames: ({ names }) => `media/[hash:10]/${names[0]}` } } },
    });
    const { immutable, other } = await namedIn(root, "dist");
    assert.ok(immutable.includes("assets/worker-*.js"), immutable.join(" "));
    assert.ok(immutable.some((path) => /^media\/[\w-]{10}\/logo\.svg$/.test(path)), immutable.join(" "));
    assert.deepEqual(other, ["index.html", "library-B1946AC9.js"]);
  }, { "src/lazy.js": 'export const turn = () => new Worker(new URL("./worker.js", import.meta.url));' }));

test("names without hashes are not immutable, however they look", () =>
  inProject(async (root) => {
    const output = {
      entryFileNames: "app-abcd1234.js",
      chunkFileNames: "[name].js",
      assetFileNames: "[name][extname]",
    };
    const emitting: VitePlugin = {
      name: "emitting",
      generateBundle() {
        this.emitFile({ type: "asset", fileName: "assets/given-Ab3dE9xQ.txt", source: "mill ".repeat(400) });
      },
    };
    await build(root, { build: { rollupOptions: { output, plugins: [emitting] } } });
    assert.deepEqual((await namedIn(root, "dist")).immutable, []);
  }));

test("what the user names is immutable, too, and a second build of the folder keeps what the first one knew", () =>
  inProject(async (root) => {
    await build(root, {}, { immutable: ["library-*"] });
    assert.ok((await namedIn(root, "dist")).immutable.includes("library-B1946AC9.js"));
    const more = { emptyOutDir: false, copyPublicDir: false, rollupOptions: { input: join(root, "src/lazy.js") } };
    await build(root, { build: more });
    const { immutable, other } = await namedIn(root, "dist");
    assert.deepEqual(other, ["index.html"]);
    assert.ok(immutable.includes("library-B1946AC9.js") && immutable.includes("assets/index-*.js"));
  }));

test("a build makes deltas against a folder of previous, below the project as that of out", () =>
  inProject(async (root) => {
    const options = {
      minSize: 3000,
      jobs: 1,
      formats: ["zstd"],
      levels: { zstd: 1 },
      previous: "deployed",
      out: "site",
      cache: "kept",
    } as const;
    assert.match(
      await build(root, {}, { ...options, retain: 2 }),
      /^there is no deployed yet, so there are no deltas$/m,
    );
    assert.ok(!existsSync(join(root, "dist/.millrace.json")), "variants go to the copy alone");
    assert.ok(existsSync(join(root, "kept")), "the cache, too");
    await rename(join(root, "dist"), join(root, "deployed"));
    await writeTree(root, { "src/main.js": `${project["src/main.js"]}console.log("more");` });
    assert.doesNotMatch(await build(root, {}, options), /no deltas/);
    const dictionaries = async (): Promise<string[]> => {
      const files = Object.values((await readManifest(join(root, "site")))!.files);
      return files.flatMap(({ dictionary }) => dictionary?.match ?? []);
    };
    assert.deepEqual(await dictionaries(), ["assets/index-*.js"]);
    await mkdir(join(root, "deploys"));
    await rename(join(root, "deployed"), join(root, "deploys/one"));
    assert.doesNotMatch(await build(root, {}, { ...options, previous: "deploys", retain: 2 }), /no deltas/);
    assert.deepEqual(await dictionaries(), ["assets/index-*.js"]);
  }));

test("nothing is compressed of what Vite builds for servers, nor while it serves or watches", () =>
  inProject(async (root) => {
    await build(root, { build: { ssr: "src/lazy.js", outDir: "server" } });
    assert.deepEqual((await listed(join(root, "server"))).filter((path) => /gz$|millrace/.test(path)), []);

    const { logger } = keeping();
    const shared: InlineConfig = { root, configFile: false, customLogger: logger, logLevel: "warn" };
    const server = await createServer({
      ...shared,
      plugins: [precompress(namesOnly)],
      server: { middlewareMode: true },
    });
    const names = server.config.plugins.map(({ name }) => name);
    await server.close();
    assert.ok(!names.includes("millrace:precompress"));

    // A build before has variants there, which are of other content then.
    await build(root, {}, { ...quick, minSize: 1 });
    assert.ok(existsSync(join(root, "dist/index.html.gz")));
    const watching: InlineConfig["build"] = { watch: {}, emptyOutDir: false };
    const watcher = await vite.build({ ...shared, plugins: [precompress(namesOnly)], build: watching });
    assert.ok("on" in watcher);
    const signal = AbortSignal.timeout(30_000);
    await new Promise<void>((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      watcher.on("event", (event) => {
        if (event.code === "ERROR") reject(event.error);
        if (event.code === "END") resolve();
      });
    });
    await watcher.close();
    const left = await listed(join(root, "dist"));
    assert.ok(left.includes("index.html"));
    assert.deepEqual(left.filter((path) => /gz$|millrace/.test(path)), []);
  }));

test("a library is left to the sites that serve it, which is told", () =>
  inProject(async (root) => {
    const printed = await build(root, { build: { lib: { entry: "src/main.js", formats: ["es"], fileName: "a" } } });
    assert.ok(!(await listed(join(root, "dist"))).some((path) => /\.(?:br|gz|zst|millrace\.json)$/.test(path)));
    assert.match(printed, /leaves libraries to the sites that serve them/);
  }));

test("environments for browsers are compressed, each in its folder, and others are not", () =>
  inProject(async (root) => {
    const { logger } = keeping();
    const builder = await vite.createBuilder({
      root,
      configFile: false,
      customLogger: logger,
      logLevel: "warn",
      plugins: [precompress(namesOnly)],
      environments: {
        client: { build: { outDir: "out/client" } },
        ssr: { build: { outDir: "out/server", rollupOptions: { input: join(root, "src/lazy.js") } } },
      },
      builder: {},
    });
    for (const environment of Object.values(builder.environments)) await builder.build(environment);
    assert.ok((await namedIn(root, "out/client")).immutable.includes("assets/index-*.js"));
    assert.deepEqual((await listed(join(root, "out/server"))).filter((path) => /gz$|millrace/.test(path)), []);
  }));

test("a file that cannot be compressed fails the build, in words that name it", () =>
  inProject(async (root) => {
    const blocked = { "public/library-B1946AC9.js.gz": "somebody's own" };
    await writeTree(root, blocked);
    await assert.rejects(build(root, {}, { ...quick, minSize: 1024 }), (error: Error) => {
      assert.match(error.message, /cannot compress all of dist:\n {2}library-B1946AC9\.js\.gz: it is in the way/);
      return true;
    });
  }));

test("an output that holds the project, or an option that there is none of, fails the build", () =>
  inProject(async (root) => {
    const flat = build(root, { build: { outDir: ".", emptyOutDir: false } });
    await assert.rejects(flat, /it holds the whole project\. Set build\.outDir to a folder of its own/);
    await assert.rejects(
      build(root, {}, { level: 3 } as object),
      /precompress\(\): unknown option "level": did you mean "levels"/,
    );
  }));

for (const [name, run] of [["Rollup", runRollup], ["Rolldown", runRolldown]] as const) {
  test(`${name} takes the plugin: all outputs are compressed when the bundle is closed`, () =>
    inProject(async (root) => {
      const printed = await run(root, join(root, "src/lazy.js"));
      assert.deepEqual((await namedIn(root, "dist")).immutable, ["legacy/old-*.js", "new-*.js"]);
      assert.deepEqual((await namedIn(root, "dist")).other, ["legacy/old-*.js.map"]);
      assert.deepEqual((await namedIn(root, "single")).other, ["lazy.js"]);
      assert.ok(!existsSync(join(root, "dist/legacy/.millrace.json")), "the folder that holds the other is enough");
      assert.match(printed, /✓ 0 files precompressed/);
    }));
}

/** A plugin that gives chunks other names once they have theirs. */
function renaming(rename: (name: string) => string, order: "pre" | null = null): RollupPlugin {
  const handler: RollupPlugin["generateBundle"] = (_, bundle) => {
    for (const file of Object.values(bundle)) if (file.type === "chunk") file.fileName = rename(file.fileName);
  };
  return { name: "renaming", generateBundle: { order, handler } };
}

test("chunks that another plugin renames are immutable only if the hash is in the name that they end with", () =>
  inProject(async (root) => {
    const input = join(root, "src/lazy.js");
    const cases: [pattern: string, rename: (name: string) => string, expected: string, isImmutable: boolean][] = [
      ["[name].js", (name) => `js/${name}`, "js/lazy.js", false],
      ["[name].js", () => "service-worker.js", "service-worker.js", false],
      ["[name]-[hash].js", (name) => name.replace(/-.{8}\./, "."), "lazy.js", false],
      ["[name]-[hash].js", (name) => `js/${name}`, "js/lazy-*.js", true],
      ["[hash]/[name].js", (name) => name.slice(9), "lazy.js", false],
      ["[hash].js", () => "register.js", "register.js", false],
    ];
    const orders = ([null, "pre"] as const).flatMap((order) => cases.map((each) => [...each, order] as const));
    for (const [i, [entryFileNames, rename, expected, isImmutable, order]] of orders.entries()) {
      for (const [tool, make] of [["rollup", rollup], ["rolldown", rolldown]] as const) {
        const dir = join(root, `${tool}${i}`);
        const plugins = [renaming(rename, order), precompress(namesOnly)];
        const bundle = await (make as typeof rollup)({ input, plugins: plugins as RollupPlugin[], onLog() {} });
        await bundle.write({ dir, entryFileNames });
        await bundle.close();
        const { immutable, other } = await namedIn(dir);
        assert.deepEqual(isImmutable ? immutable : other, [expected], `${tool}: ${entryFileNames}`);
      }
    }
  }));

test("all chunks that the tool names by a hash are immutable, however hash and placeholder look", () =>
  inFolder(async (root) => {
    // Some of so many short hashes read as words, and every 64th placeholder ends in "$".
    const input = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`page${i}`, `virtual:${i}`]));
    const modules: RollupPlugin = {
      name: "modules",
      resolveId: (id) => id,
      load: (id) => `console.log(${JSON.stringify(id)});`,
    };
    for (const [tool, make] of [["rollup", rollup], ["rolldown", rolldown]] as const) {
      const dir = join(root, tool);
      const plugins = [modules, precompress(namesOnly)];
      const bundle = await (make as typeof rollup)({ input, plugins: plugins as RollupPlugin[], onLog() {} });
      await bundle.write({ dir, entryFileNames: "[name]-[hash:7].js" });
      await bundle.close();
      const { files } = (await readManifest(dir))!;
      assert.equal(Object.keys(files).length, 200);
      assert.deepEqual(Object.keys(files).filter((path) => !files[path]!.immutable), [], tool);
    }
  }));

test("chunks of outputs that are written to one folder at once are immutable", () =>
  inProject(async (root) => {
    for (const [tool, make] of [["rollup", rollup], ["rolldown", rolldown]] as const) {
      const dir = join(root, tool);
      const plugins = [precompress(namesOnly)] as RollupPlugin[];
      const bundle = await (make as typeof rollup)({ input: join(root, "src/lazy.js"), plugins, onLog() {} });
      const names = { dir, entryFileNames: "[name]-[hash].js" };
      await Promise.all((["es", "cjs"] as const).map((format) => bundle.write({ ...names, format })));
      await bundle.close();
      assert.deepEqual(await namedIn(dir), { immutable: ["lazy-*.js", "lazy-*.js"], other: [] }, tool);
    }
  }));

test("assets that another plugin names or renames are immutable only if the hash is in their names", () =>
  inProject(async (root) => {
    const input = join(root, "src/lazy.js");
    const assets: RollupPlugin = {
      name: "assets",
      buildStart() {
        this.emitFile({ type: "asset", name: "mill.css", source: "a {}" });
        this.emitFile({ type: "asset", name: "my-settings.css", source: "b {}" });
        this.emitFile({ type: "asset", name: "logo", fileName: "assets/logo-register.svg", source: "<svg/>" });
      },
      generateBundle(_, bundle) {
        const settings = Object.values(bundle).find(({ fileName }) => fileName.includes("my-settings"))!;
        settings.fileName = "assets/my-settings.css";
      },
    };
    for (const [tool, make] of [["rollup", rollup], ["rolldown", rolldown]] as const) {
      const dir = join(root, tool);
      const plugins = [assets, precompress(namesOnly)];
      const bundle = await (make as typeof rollup)({ input, plugins: plugins as RollupPlugin[], onLog() {} });
      await bundle.write({ dir, assetFileNames: "assets/[name]-[hash][extname]" });
      await bundle.close();
      const expected = ["assets/logo-*.svg", "assets/my-*.css", "lazy.js"];
      assert.deepEqual(await namedIn(dir), { immutable: ["assets/mill-*.css"], other: expected }, tool);
    }
  }));

/** The outputs of one bundle: one below another, and a single file. */
const outputsIn = (root: string) => [
  { dir: join(root, "dist"), entryFileNames: "new-[hash].js" },
  { dir: join(root, "dist/legacy"), entryFileNames: "old-[hash].js", sourcemap: true },
  { file: join(root, "single/lazy.js") },
];

async function runRollup(root: string, input: string): Promise<string> {
  const lines: string[] = [];
  const plugins: RollupPlugin[] = [precompress(namesOnly)];
  const bundle = await rollup({ input, plugins, onLog: (_, { message }) => void lines.push(message) });
  for (const output of outputsIn(root)) await bundle.write(output);
  await bundle.close();
  return lines.join("\n");
}

async function runRolldown(root: string, input: string): Promise<string> {
  const lines: string[] = [];
  const plugins: RolldownPlugin[] = [precompress(namesOnly)];
  const bundle = await rolldown({ input, plugins, onLog: (_, { message }) => void lines.push(message) });
  for (const output of outputsIn(root)) await bundle.write(output);
  await bundle.close();
  return lines.join("\n");
}

test("a build of a framework that writes pages later says so once, and names the command", () =>
  inProject(async (root) => {
    const ways = {
      "astro:build": "name it among .* integrations.*",
      "react-router": ".*precompress build/client",
      "vite-plugin-sveltekit-setup": ".*precompress build",
    };
    for (const [name, wayOut] of Object.entries(ways)) {
      const { lines, logger } = keeping();
      for (let i = 0; i < 2; i++) {
        const plugins = [{ name }, precompress({ ...namesOnly })];
        await vite.build({ root, configFile: false, customLogger: logger, logLevel: "warn", plugins });
      }
      assert.equal(lines.join("\n").match(new RegExp(`are left as they are: ${wayOut}$`, "gm"))?.length, 1, name);
    }
  }));

test("pages that a framework or another plugin writes before Vite's builder ends have variants", () =>
  inProject(async (root) => {
    const page = (path: string) => () => writeTree(root, { [path]: "<p>mill</p>".repeat(300) });
    const framework = {
      name: "react-router",
      closeBundle: page("dist/sw.js"),
      buildApp: { order: "post", handler: page("dist/late.html") },
      config: () => ({
        builder: { buildApp: async (builder) => void await builder.build(builder.environments.client!) },
      }),
    } satisfies VitePlugin;
    const { lines, logger } = keeping();
    const plugins = [precompress({ ...quick, minSize: 1024 }), framework];
    const builder = await vite.createBuilder({
      root,
      configFile: false,
      customLogger: logger,
      logLevel: "warn",
      plugins,
    });
    await builder.buildApp();
    const variants = (await listed(join(root, "dist"))).filter((path) => path.endsWith(".gz"));
    for (const path of ["late.html.gz", "sw.js.gz"]) assert.ok(variants.includes(path), path);
    assert.match(lines.at(-1)!, /✓ \d+ files? precompressed, \d+ unchanged/);
    assert.doesNotMatch(lines.join("\n"), /left as they are/);
  }));

test("patterns for pages that are written after a bundle is closed are judged once all pages are there", () =>
  inProject(async (root) => {
    const text = "<p>mill</p>".repeat(300);
    await writeTree(root, { "public/a.html": text, "public/b.html": text });
    const pages: VitePlugin = {
      name: "pages",
      buildApp: {
        order: "pre",
        async handler(builder) {
          await builder.build(builder.environments.client!);
          await writeTree(root, { "dist/late/page.html": text });
        },
      },
    };
    const late = ["late/**"];
    const cases: [PrecompressPluginOptions, warnings: number][] = [
      [{ exclude: late, immutable: late, siteDictionary: true, formats: ["zstd"], minSize: 1024 }, 0],
      [{ include: late }, 0],
      [{ exclude: ["later/**"] }, 1],
    ];
    for (const [options, warnings] of cases) {
      const { lines, logger } = keeping();
      const plugins = [pages, precompress({ ...quick, ...namesOnly, ...options })];
      const builder = await vite.createBuilder({
        ...{ root, configFile: false, customLogger: logger, logLevel: "warn", plugins, builder: {} },
      });
      await builder.buildApp();
      assert.equal(lines.join("\n").split("matches no file").length - 1, warnings, JSON.stringify(options));
      assert.deepEqual((await readManifest(join(root, "dist")))!.files["late/page.html"]!.variants, {});
    }
  }));

test("the summary has its numbers in columns", () => {
  const types = [
    { type: "CSS", files: 1, bytes: 1390, variants: { brotli: 600 }, elapsedMs: 1 },
    { type: "JavaScript", files: 12, bytes: 188_050, variants: { brotli: 50_630, gzip: 58_220 }, elapsedMs: 1 },
  ];
  const report = { types, compressed: [], unchanged: 0, elapsedMs: 1 } as unknown as PrecompressReport;
  assert.deepEqual(formatReport(report).split("\n").slice(0, 2), [
    "CSS           1 file    1.39 kB  │ brotli:  0.60 kB  │ gzip:        -",
    "JavaScript  12 files  188.05 kB  │ brotli: 50.63 kB  │ gzip: 58.22 kB",
  ]);
});

test("among Astro's integrations it compresses the whole site, and calls immutable what Astro names by a hash", () =>
  inFolder(async (root) => {
    await writeTree(root, { "dist/index.html": "<p>", "dist/a.css": "a{}", "dist/_x/a.B1946AC9.css": "b{}" });
    const others = ["_x/main.js", "_x/main.children.js", "_x/page.Dx3kA9_z.js.map", "page.Dx3kA9_z.js"];
    others.push("_x/main.20261128.css", "_x/data.en_US_v2.js", "_x/theme.v2-dark1.css");
    await writeTree(root, { "public/_x/theme.v2-dark1.css": "copied" });
    for (const path of [...others, "_x/photo.Dx3kA9_z_Z1x2y3.webp"]) await writeTree(root, { [`dist/${path}`]: path });
    const lines: string[] = [];
    const { hooks } = precompress({ ...namesOnly, immutable: ["*.css", "none/"], out: "site" });
    const publicDir = pathToFileURL(join(root, "public/"));
    hooks["astro:config:done"]({ config: { root: pathToFileURL(`${root}/`), publicDir, build: { assets: "_x" } } });
    const keep = (text: string): void => void lines.push(text);
    const logger = { info: keep, warn: (text: string) => keep(text.slice(0, 31)) };
    await hooks["astro:build:done"]({ dir: pathToFileURL(join(root, "dist/")), logger });
    const { files } = (await readManifest(join(root, "site")))!;
    const immutable = Object.entries(files).map(([path, { immutable = false }]) => `${path} ${immutable}`);
    const expected = ["_x/a.B1946AC9.css true", "_x/photo.Dx3kA9_z_Z1x2y3.webp true", "a.css true", "index.html false"];
    assert.deepEqual(immutable.sort(), [...expected, ...others.map((path) => `${path} false`)].sort());
    assert.match(lines.join(), /✓ 0 files precompressed.*,immutable "none\/" matches no fi$/);
  }));
