import assert from "node:assert/strict";
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { SourceMap, type SourceMapping } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import test, { after, before, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { build, type Plugin, transform } from "esbuild";
import { builtPackage } from "../support/built_package.ts";
import { output, run } from "../support/processes.ts";
import { root, runtime } from "../support/runtime.ts";

const runtimes = { node: [], bun: [], deno: ["run", "-A", "--quiet"] } as const;

/** The number of modules and of KB of code that an import of a subpath may load: about a tenth more than it does. */
const budgets: Readonly<Record<string, readonly [modules: number, kilobytes: number]>> = {
  ".": [4, 225],
  "./batch": [4, 225],
  "./bun": [11, 420],
  "./cli": [2, 10],
  "./codecs": [4, 225],
  "./codecs/brotli": [2, 31],
  "./codecs/gzip": [2, 31],
  "./codecs/zstd": [2, 31],
  "./compression": [4, 145],
  "./esbuild": [11, 420],
  "./fastify": [2, 2],
  "./files": [8, 375],
  "./hono": [2, 2],
  "./http": [4, 178],
  "./install": [2, 125],
  "./node": [5, 235],
  "./pino": [8, 365],
  "./precompress": [10, 415],
  "./s3": [8, 430],
  "./static": [6, 215],
  "./streams": [2, 120],
  "./text": [4, 225],
  "./upload": [9, 505],
  "./vite": [11, 425],
};

/** The modules and names that streams look up when they load: how Node marks its streams. */
const ofStreams = {
  node: ["ReadableStream", "node:util", "process"],
  bun: ["process"],
  deno: [],
};
const nothing = { node: [], bun: [], deno: [] };
/** The modules and names that the client looks up on load: on Bun, its channels, which it must keep alive. */
const ofHttp = {
  node: [],
  bun: ["node:diagnostics_channel", "process"],
  deno: [],
};
/** A Node stream is extended. */
const ofPino = {
  node: ["Buffer", ...ofStreams.node, "node:stream"].sort(),
  bun: ["Buffer", ...ofStreams.bun, "node:stream"].sort(),
  deno: ["Buffer", "node:stream", "process"],
};

/** The built-in modules, and the slow globals, that an import of each subpath loads. */
const builtins: Readonly<Record<string, Readonly<Record<keyof typeof runtimes, readonly string[]>>>> = {
  ".": ofStreams,
  "./batch": ofStreams,
  "./bun": ofStreams,
  "./codecs": ofStreams,
  "./codecs/brotli": nothing,
  "./codecs/gzip": nothing,
  "./codecs/zstd": nothing,
  "./compression": nothing,
  "./esbuild": ofStreams,
  "./fastify": nothing,
  "./files": ofStreams,
  "./hono": nothing,
  "./http": ofHttp,
  "./install": {
    node: [
      "ReadableStream",
      "Response",
      "node:module",
      "node:stream/web",
      "node:util",
      "process",
    ],
    bun: ["node:module", "node:stream/web", "process"],
    deno: ["node:module", "node:stream/web", "process"],
  },
  "./node": ofStreams,
  "./pino": ofPino,
  "./precompress": ofStreams,
  "./s3": { ...ofStreams, bun: ofHttp.bun },
  "./static": nothing,
  "./streams": ofStreams,
  "./text": ofStreams,
  "./upload": ofStreams,
  "./vite": ofStreams,
};

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, { readonly default: string }>;
};
const subpaths = Object.keys(exports).filter((subpath) => !/^\.\/browser\/|\.wasm$/.test(subpath));

describe("what is built for servers", { skip: runtime !== "node" && "it runs all runtimes itself" }, () => {
  let folder = "";
  const modules = (): string[] => globSync("{*,chunks/*,lib/*{,/*}/*}.js", { cwd: folder });
  const pathOf = (subpath: string): string => join(folder, exports[subpath].default.replace("./dist/", ""));

  before(async () => {
    const cache = join(root, "node_modules/.cache"); // below which packages are found
    await mkdir(cache, { recursive: true });
    folder = await mkdtemp(join(cache, "server-build-"));
    const isForServers = (path: string): boolean => !/[\\/]modules$|[\\/]browser[\\/](?!wasm)/.test(path);
    await cp(await builtPackage(), folder, { recursive: true, filter: isForServers });
  });

  after(() => rm(folder, { recursive: true, force: true }));

  /** Returns the modules that an import of one loads. */
  function loadedBy(path: string): string[] {
    const loaded = new Set([path]);
    for (const each of loaded) {
      const imports = readFileSync(each, "utf8").matchAll(
        /(?<=^|;)(?:import|export)\b(?:[^"';()]*\bfrom)? ?"(\.[^"]+)";/gm,
      );
      for (const [, specifier] of imports) loaded.add(join(dirname(each), specifier));
    }
    return [...loaded];
  }

  test("the tables name each subpath", () => {
    assert.deepEqual(Object.keys(budgets), subpaths);
    assert.deepEqual(Object.keys(builtins), subpaths.filter((subpath) => subpath !== "./cli"));
  });

  test("what is left out of sources is comments", async () => {
    const { withoutDocs } = await import("../../.ci/server_build.ts");
    for (const path of globSync("lib/**/*.ts", { cwd: root })) {
      const source = readFileSync(join(root, path), "utf8");
      const [all, left] = await Promise.all([source, withoutDocs(source)].map((text) => {
        return transform(text, { loader: "ts", minifyWhitespace: true });
      }));
      assert.equal(left.code, all.code, path);
    }
  });

  for (const subpath of subpaths) {
    test(`an import of ${subpath} loads few modules, and little that it does not need`, () => {
      const loaded = loadedBy(pathOf(subpath));
      const kilobytes = loaded.reduce((sum, path) => sum + readFileSync(path).length, 0) / 1024;
      const [modules, most] = budgets[subpath];
      assert.ok(loaded.length <= modules, `${loaded.length} modules: ${loaded.join()}`);
      assert.ok(kilobytes <= most, `${kilobytes.toFixed()} KB`);
    });
  }

  test("no module imports a chunk for nothing that another import leads to, and the main entry imports one", () => {
    const reached = (paths: readonly string[]): Set<string> => new Set(paths.flatMap((path) => loadedBy(path)));
    for (const path of modules().map((path) => join(folder, path))) {
      const text = readFileSync(path, "utf8");
      const importsOf = (
        pattern: RegExp,
      ): string[] => [...new Set([...text.matchAll(pattern)].map(([, specifier]) => join(dirname(path), specifier)))];
      const named = importsOf(/(?<=^|;)(?:import|export)\{[^}]*\}from ?"(\.[^"]+)";/gm);
      const others = reached(named);
      assert.deepEqual(importsOf(/(?<=^|;)import ?"(\.[^"]+)";/gm).filter((each) => others.has(each)), [], path);
    }
    assert.equal(new Set(readFileSync(pathOf("."), "utf8").match(/(?<=from")[^"]+/g)).size, 1);
  });

  test("the command loads nothing before it has looked at the runtime's version", () => {
    const [, ...lines] = readFileSync(join(folder, "lib/cli/cli.js"), "utf8").split("\n");
    assert.match(lines.join("\n"), /^if\(.detached.in ArrayBuffer\.prototype\)await/);
  });

  test("the folder's own manifest has the type and the side effects of the package's", () => {
    const own = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const { type, sideEffects } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    assert.deepEqual(own, { type, sideEffects: sideEffects.map((path: string) => path.replace("./dist/", "./")) });
  });

  test("no module imports one of the runtime's own before it is used", () => {
    const found = globSync("**/*.js", { cwd: folder }).filter((path) => {
      return /(?<=^|;)(?:import|export)\b[^"';()]*"node:/m.test(readFileSync(join(folder, path), "utf8"));
    });
    assert.deepEqual(found, []);
  });

  test("source maps lead functions and classes to the lines of their sources", () => {
    let [found, maps] = [0, 0];
    for (const path of modules()) {
      const text = readFileSync(join(folder, path), "utf8");
      if (!text.endsWith(`//# sourceMappingURL=${basename(path)}.map\n`)) continue; // it has no code of its own
      const map = new SourceMap(JSON.parse(readFileSync(join(folder, `${path}.map`), "utf8")));
      maps++;
      for (const [i, line] of text.split("\n").entries()) {
        for (const { 1: name, index } of line.matchAll(/(?<=[;}]|^)(?:async )?(?:function\*?|class) (\w{4,})/g)) {
          const { originalSource, originalLine } = map.findEntry(i, index) as SourceMapping;
          const source = sourceOf(originalSource, join(root, "dist", path));
          const lines = readFileSync(source, "utf8").split("\n");
          if (!lines.some((line) => declares(line, name))) continue; // numbered, since two modules have one of that name
          assert.ok(
            declares(lines[originalLine], name),
            `${path}: ${name} is not at ${originalSource}:${originalLine + 1}`,
          );
          found++;
        }
      }
    }
    assert.ok(found > 1000 && maps > 30, `${found} in ${maps}`);
  });

  test("maps of types lead each name to itself in a source", () => {
    let found = 0;
    const paths = readdirSync(folder, { recursive: true }) as string[];
    for (const path of paths.filter((path) => path.endsWith(".d.ts.map"))) {
      const types = path.replace(/\.map$/, "");
      const map = new SourceMap(JSON.parse(readFileSync(join(folder, path), "utf8")));
      for (const [i, line] of readFileSync(join(folder, types), "utf8").split("\n").entries()) {
        for (const { 0: name, index } of line.matchAll(/(?<![\w$])[\w$]+/g)) {
          const { originalSource, originalLine, originalColumn, generatedLine, generatedColumn } = map.findEntry(
            i,
            index,
          ) as SourceMapping;
          if (generatedLine !== i || generatedColumn !== index) continue; // no name that the line declares
          const source = sourceOf(originalSource, join(root, "dist", types));
          const text = readFileSync(source, "utf8").split("\n")[originalLine].slice(originalColumn);
          assert.ok(
            text.startsWith(name),
            `${types}:${i + 1}: ${name} is not at ${source}:${originalLine + 1}: ${text}`,
          );
          found++;
        }
      }
    }
    assert.ok(found > 500, `${found}`);
  });

  test("a stack names the line of the source", async () => {
    const script = join(folder, "stack.mjs");
    writeFileSync(
      script,
      `import { LineStream } from ${JSON.stringify(pathToFileURL(pathOf("./text")).href)};
      try { new LineStream({ size: 1 }) } catch (error) { console.log(error.stack) }`,
    );
    const printed = await output(join(root, "node_modules/.bin/node"), ["--enable-source-maps", script], root);
    assert.match(printed, /lib[\\/]text[\\/]line_stream\.ts:\d+/);
  });

  test("lines are short, but for literals and what is bundled as a text", () => {
    for (const path of modules()) {
      for (const line of readFileSync(join(folder, path), "utf8").split("\n")) {
        const longest = Math.max(...line.split(/["'`]/).map(({ length }) => length));
        const isText = /^var (?:script|style)=/.test(line);
        assert.ok(isText || line.length - longest < 500, `${path}: ${line.length} characters: ${line.slice(0, 100)}`);
      }
    }
  });

  test("on Node, an uncaught error prints little in front of its message", async () => {
    const failing = {
      ".": "ReadableStream.from(5)",
      "./files": 'openFileReadable("nope")',
      "./http": "new HttpClient({ tiemout: 1 })",
      "./static": 'createStaticHandler("nope")',
      "./upload": "createUploadHandler({})",
    };
    await Promise.all(
      Object.entries(failing).map(async ([subpath, call]) => {
        const [name] = /\w+(?=[.(])/.exec(call)!;
        const script = `import { ${name} } from ${JSON.stringify(pathToFileURL(pathOf(subpath)).href)}; await ${call};`;
        const words = ["--input-type=module", "-e", script];
        const { stderr, code } = await run(join(root, "node_modules/.bin/node"), words, root);
        const [before] = stderr.split(/^\w*Error\b/m);
        assert.equal(code, 1, stderr);
        assert.ok(before.length < 1000, `${subpath}: ${before.length} characters: ${before.slice(0, 1000)}`);
      }),
    );
  });

  for (const [name, words] of Object.entries(runtimes) as [keyof typeof runtimes, readonly string[]][]) {
    test(`on ${name}, an import loads no more of the runtime's own modules than the table says`, async () => {
      const found: Record<string, unknown> = {};
      // Subpaths that may load the same share a process: one that loads more is found beside others, too.
      const groups = Map.groupBy(Object.keys(builtins), (subpath) => builtins[subpath][name].join());
      for (const subpaths of groups.values()) {
        const urls = subpaths.map((subpath) => pathToFileURL(pathOf(subpath)).href);
        const args = [...words, join(root, "tests/ci/loaded_modules.ts"), ...urls];
        found[subpaths.join()] = JSON.parse(await output(join(root, "node_modules/.bin", name), args, root));
      }
      const expected = Object.fromEntries([...groups.values()].map((of) => [of.join(), builtins[of[0]][name]]));
      assert.deepEqual(found, expected);
    });

    test(`on ${name}, the entries of one codec work with modules that are given, and name them where none is compiled`, async () => {
      const args = [...words, join(root, "tests/ci/given_codecs.ts"), `${pathToFileURL(folder).href}/`];
      const printed = await output(join(root, "node_modules/.bin", name), args, root);
      assert.equal(printed, "gzip true true true\nbrotli true true true\nzstd true true true\n");
    });

    test(`on ${name}, codecs come from their files, and from their texts where no sound file is there or may be read`, async () => {
      const kinds = { files: /\.js$/, texts: /\.wasm$/, permitted: /none/, damaged: /none/ };
      for (const [kind, missing] of Object.entries(kinds)) {
        const copy = join(folder, `${kind}-${name}`);
        const filter = (path: string): boolean => !(path.includes("wasm") && missing.test(path));
        for (const part of ["browser/wasm", "chunks", "lib/codecs"]) {
          await cp(join(folder, part), join(copy, part), { recursive: true, filter });
        }
        if (kind === "damaged") damage(join(copy, "browser/wasm"));
        const script = join(copy, "there_and_back.mjs");
        const bytes = "new Uint8Array(1000)";
        const calls = ["gzip", "brotli", "zstd"].map((codec) =>
          `import("./lib/codecs/${codec}.js").then(async (m) => (await m.decompress(await m.compress(${bytes}))).length)`
        );
        writeFileSync(script, `console.log((await Promise.all([${calls.join()}])).join());`);
        const args = [...words.filter((word) => kind !== "permitted" && kind !== "texts" || word !== "-A"), script];
        assert.equal(await output(join(root, "node_modules/.bin", name), args, root), "1000,1000,1000\n", kind);
      }
    });

    test(`on ${name}, streams that a client loads late pause by the function that was global at its import`, async () => {
      const script = join(folder, "late.mjs");
      writeFileSync(
        script,
        `const { setImmediate } = globalThis;
        const { HttpClient } = await import(${JSON.stringify(pathToFileURL(pathOf("./http")).href)});
        globalThis.setImmediate = () => {};
        const { constructor: ReadableStream } = (await new HttpClient().fetch("data:,text")).body;
        globalThis.setImmediate = setImmediate;
        const end = performance.now() + 100;
        const pull = (controller) => performance.now() < end ? controller.enqueue(0) : controller.close();
        await new ReadableStream({ pull }).pipeTo(new WritableStream());
        console.log("piped");`,
      );
      assert.equal(await output(join(root, "node_modules/.bin", name), [...words, script], root), "piped\n");
    });

    test(`on ${name}, a bundle loads no file beside it, or at the place of its build, that has the name of one of the package's`, async () => {
      const place = join(folder, "bundled", name, "server");
      const entry = join(folder, `bundled_${name}.mjs`);
      const from = (subpath: string): string => JSON.stringify(pathOf(subpath));
      writeFileSync(
        entry,
        `import { compress } from ${from("./codecs")};
        import { RotatingFileWritable } from ${from("./files")};
        import { precompress } from ${from("./precompress")};
        import { existsSync } from "node:fs";
        import process from "node:process";
        const directory = process.argv.at(-1);
        const log = new RotatingFileWritable({ directory, name: "a.log", maxFileSize: 10, append: true, compress: "gzip" });
        const writer = log.getWriter();
        for (let i = 0; i < 3; i++) await writer.write("a line\\n");
        await writer.close();
        await precompress(directory);
        const { length } = await compress(new Uint8Array(1000), { format: "gzip" });
        console.log(length < 100, ["a-00001.log.gz", "page.html.br"].every((name) => existsSync(directory + "/" + name)));`,
      );
      const ran = join(place, "ran");
      const other = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran)}, "");`;
      const codec = join(folder, "browser/wasm/zstd_decoder.wasm");
      for (const file of globSync("{browser/wasm/*.wasm,lib/*{,/*}/*worker.js}", { cwd: folder })) {
        for (const above of ["..", "../..", "build"]) {
          const path = join(place, above, file);
          await mkdir(dirname(path), { recursive: true });
          writeFileSync(path, file.endsWith(".wasm") ? readFileSync(codec) : other);
        }
      }
      for (const plugins of [[], [literalAddresses(folder, join(place, "build"))]]) {
        await build({
          entryPoints: [entry],
          bundle: true,
          format: "esm",
          platform: "node",
          outfile: join(place, "main.mjs"),
          plugins,
        });
        const site = await mkdtemp(join(place, "site-"));
        writeFileSync(join(site, "page.html"), "<p>a page</p>".repeat(500));
        const args = [...words, join(place, "main.mjs"), site];
        assert.equal(await output(join(root, "node_modules/.bin", name), args, root), "true true\n");
        assert.equal(existsSync(ran), false);
      }
    });

    test(`on ${name}, the command tells its version without its other modules`, async () => {
      const args = [...words, pathOf("./cli"), "--version"];
      const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
      assert.equal(await output(join(root, "node_modules/.bin", name), args, root), `millrace ${version}\n`);
    });
  }

  test("each subpath works when it is bundled into one ES module", async () => {
    const whole = subpaths.filter((subpath) => !["./cli", "./bun", "./esbuild", "./vite"].includes(subpath));
    const entryPoints = Object.fromEntries(whole.map((subpath) => [subpath.replace(/\W+/g, "_"), pathOf(subpath)]));
    const outdir = join(folder, "bundles");
    await build({
      entryPoints,
      bundle: true,
      format: "esm",
      platform: "node",
      outdir,
      outExtension: { ".js": ".mjs" },
    });
    const script = join(outdir, "names.mjs");
    writeFileSync(
      script,
      `for (const name of ${JSON.stringify(Object.keys(entryPoints))}) {
        console.log(Object.keys(await import(\`./\${name}.mjs\`)).sort().join());
      }`,
    );
    const found = (await output(join(root, "node_modules/.bin/node"), [script], root)).trimEnd().split("\n");
    for (const [i, subpath] of whole.entries()) {
      const expected = Object.keys(await import(pathToFileURL(pathOf(subpath)).href)).sort().join();
      assert.equal(found[i], expected, subpath);
    }
  });

  test("a host without the runtime's modules says what is missing when that is used", async () => {
    const script = join(folder, "edge.mjs");
    writeFileSync(
      script,
      `import { createStaticHandler } from ${JSON.stringify(pathToFileURL(pathOf("./static")).href)};
      globalThis.process.getBuiltinModule = undefined;
      await Promise.try(() => createStaticHandler("dist")).catch((error) => console.log(String(error)));`,
    );
    const printed = await output(join(root, "node_modules/.bin/node"), [script], root);
    assert.match(printed, /^TypeError: node:\S+ is not there: this part of @millrace\/streams runs on Node 22\.18,/);
  });
});

/** Cuts the files of gzip, writes into those of brotli, and gives zstd those of each other. */
function damage(folder: string): void {
  const files = new Map(globSync("*.wasm", { cwd: folder }).map((name) => [name, readFileSync(join(folder, name))]));
  for (const [name, bytes] of files) {
    const other = files.get(name.replace(/(?:de|en)coder/, (word) => word === "decoder" ? "encoder" : "decoder"))!;
    const cut = bytes.subarray(0, bytes.length / 2);
    const written = Buffer.from(bytes).fill(0, 1000, 2000);
    writeFileSync(join(folder, name), { gzip: cut, brotli: written, zstd: other }[name.split("_")[0]]!);
  }
}

/** Returns a plugin that replaces `import.meta.url` as webpack does: by the module's URL, here with another folder. */
function literalAddresses(folder: string, other: string): Plugin {
  return {
    name: "literal-addresses",
    setup(builder) {
      builder.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (!path.startsWith(folder)) return undefined;
        const url = JSON.stringify(pathToFileURL(join(other, relative(folder, path))).href);
        return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", url) };
      });
    },
  };
}

/** Returns the path here of a source that a map at `path` names. */
function sourceOf(place: string, path: string): string {
  const { pathname, protocol } = new URL(place, pathToFileURL(path));
  return protocol === "file:" ? join(dirname(path), place) : join(root, pathname.replace(/^(?:\/[^/]+){3}/, ""));
}

function declares(line: string, name: string): boolean {
  return new RegExp(`\\b(?:function\\*?|class) ${name}\\b`).test(line);
}
