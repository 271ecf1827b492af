import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import test, { after, before, describe } from "node:test";
import { build } from "esbuild";
import { checkBlocks, readBlocks } from "../docs/blocks.ts";
import { builtPackage } from "../support/built_package.ts";
import { output, run } from "../support/processes.ts";
import { isLong } from "../support/long_run.ts";
import { root, runtime } from "../support/runtime.ts";
import { checkCommand, checkModules, checkReadme } from "./consumer_checks.ts";
import { type Consumer, makeConsumer, npmKinds, runModule, runWords } from "./consumer_kinds.ts";
import { browserTypes, definitions, requires, serverTypes, stacks, streamTypes } from "./consumer_modules.ts";
import { definitionsOf } from "./language_service.ts";
import { bin, publishCopy, type Published } from "./published.ts";

const { exports, dependencies, scripts } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const subpaths = Object.keys(exports).filter((subpath) => subpath !== "./cli" && !subpath.endsWith(".wasm"));

/** The sources that are in the package: those of the main entry. */
const sources = /^(?:mod|lib\/(?:batch|codecs|streams|text)\/.*)\.ts$/;

/** A line of a stack in a source, which the package holds or JSR's does. */
const FRAME = /^ +at (?:new )?(\w+) \((.*\/)(lib\/\S+\.ts):(\d+):\d+\)$/gm;

/** The functions in the stacks of {@link stacks}, with what the lines that are named there contain. */
const calls: Readonly<Record<string, string>> = {
  readAll: "throw new TypeError(",
  read: "readAll(",
  LineStream: "lineStreamOptions(",
  settingsOf: "staticHandlerOptions(",
  opened: "settingsOf(",
  createStaticHandler: "opened(",
};

/** The consumers, by the command that installed the package. */
const consumers = new Map<string, Consumer>();
let published: Published;

describe("the npm package", { skip: runtime !== "node" && "it runs all runtimes itself" }, () => {
  before(async () => {
    // In a long run the copy is built by its own "prepack", as in a release.
    published = await publishCopy("npm", isLong ? undefined : await builtPackage());
    for (const kind of npmKinds) consumers.set(kind.install, await makeConsumer(kind, published));
    // TypeScript projects on Node have the types of Node, too.
    await symlink(join(root, "node_modules/@types"), join(installed(), "../../@types"));
  });

  after(() => published[Symbol.asyncDispose]());

  const installed = (): string => join(consumers.get(npmKinds[0].install)!.folder, "node_modules/@millrace/streams");

  test("is found by name, and needs nothing but the dependencies it names", async () => {
    assert.deepEqual([...published.npm.missing], []);
    const { version } = JSON.parse(await readFile(join(installed(), "package.json"), "utf8"));
    assert.equal(version, published.version);
    assert.equal(scripts.prepack, scripts.build, "what is published is built just before");
    const modules = await readdir(join(consumers.get(npmKinds[0].install)!.folder, "node_modules"));
    const packages = modules.filter((name) => !name.startsWith(".") && name !== "@types");
    const named = Object.keys(dependencies).map((name) => name.split("/")[0]);
    assert.deepEqual(packages.sort(), ["@millrace", ...named].sort());
  });

  test("is installed and used by the commands that README gives", async () => {
    const readme = await readFile(join(installed(), "README.md"), "utf8");
    const words = npmKinds.flatMap(({ install, command }) => [install, command]);
    assert.deepEqual(words.filter((words) => !readme.includes(words)), []);
  });

  test("holds what is built and its papers, and nothing else", async () => {
    const paths = await packedPaths(installed());
    const papers = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];
    // Which README links to.
    const pages =
      /^(?:lib\/.*\.(?:md|svg)|bench\/(?:README\.md|plots\/.*\.svg)|tests\/(?:examples\/(?:[a-z-]+\/.*|README\.md)|README\.md)|ARCHITECTURE\.md|CONTRIBUTING\.md|\.github\/SECURITY\.md)$/;
    const others = paths.filter((path) => !path.startsWith("dist/") && !pages.test(path) && !sources.test(path));
    assert.deepEqual(others.sort(), papers);
    const codecs = ["brotli", "gzip", "zstd"].flatMap((codec) => [`${codec}_decoder.wasm`, `${codec}_encoder.wasm`]);
    assert.deepEqual(
      paths.filter((path) => path.startsWith("dist/") && !/\.(js|d\.ts)(\.map)?$/.test(path)).sort(),
      [...["THIRD_PARTY_NOTICES.txt", ...codecs].map((name) => `dist/browser/wasm/${name}`), "dist/package.json"],
    );
  });

  test("holds whatever its pages link to", async () => {
    const paths = await packedPaths(installed());
    const pages = paths.filter((path) => path.endsWith(".md"));
    const dead = await Promise.all(pages.map(async (page) => {
      const text = await readFile(join(installed(), page), "utf8");
      const links = [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => join(page, "..", link));
      return links.filter((link) => !paths.includes(link)).map((link) => `${page}: ${link}`);
    }));
    assert.deepEqual(dead.flat(), []);
    assert.ok(pages.length > 10, pages.join());
  });

  test("holds nothing twice, and no more than 6 MB", async () => {
    const paths = await packedPaths(installed());
    const contents = await Promise.all(paths.map(async (path) => await readFile(join(installed(), path))));
    assert.deepEqual(paths.filter((_, i) => contents.findIndex((bytes) => bytes.equals(contents[i])) !== i), []);
    const total = contents.reduce((sum, { length }) => sum + length, 0);
    assert.ok(total < 6_000_000, `${total} bytes`);
    for (const codec of ["brotli_decoder", "brotli_encoder", "zstd_decoder", "zstd_encoder"]) {
      assert.equal(paths.filter((path) => path.endsWith(`/${codec}.js`)).length, 1, codec);
    }
  });

  test("holds sources that import none but each other", async () => {
    const paths = (await packedPaths(installed())).filter((path) => sources.test(path));
    const { imports } = JSON.parse(await readFile(join(installed(), "package.json"), "utf8"));
    const missing = await Promise.all(paths.map(async (path) => {
      const text = await readFile(join(installed(), path), "utf8");
      const specifiers = [...text.matchAll(/^(?:import|export)\b[^"';()]*\bfrom "([^"]+)";/gm)].map(([, name]) => name);
      const imported = specifiers.map((name) => join(name[0] === "#" ? imports[name].default : join(path, "..", name)));
      return imported.filter((name) => !paths.includes(name)).map((name) => `${path}: ${name}`);
    }));
    assert.deepEqual(missing.flat(), []);
    assert.ok(paths.length > 100, `${paths.length}`);
  });

  test("has definitions that lead to sources, and to types where it has none", async () => {
    const folder = join(consumers.get(npmKinds[0].install)!.folder, "editor");
    await mkdir(folder);
    const compilerOptions = { module: "nodenext", lib: ["es2024", "dom", "dom.iterable"], skipLibCheck: false };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
    const path = join(folder, "main.ts");
    await writeFile(path, definitions);
    const expected = {
      LineStream: ["lib/text/line_stream.ts", "LineStream extends "],
      compress: ["lib/codecs/whole.ts", "compress("],
      BatchedWritableStream: ["lib/batch/batched_writable_stream.ts", "BatchedWritableStream<"],
      getReader: ["lib/streams/readable/readable_stream.ts", "getReader()"],
      writable: ["lib/streams/transform/transform_stream.ts", "writable()"],
      allowCR: ["lib/text/line_stream.ts", "allowCR?: "],
      createStaticHandler: ["dist/lib/static/handler/create_static_handler.d.ts", "createStaticHandler("],
    };
    const found = await definitionsOf(path, Object.keys(expected));
    for (const [word, [file, text]] of Object.entries(expected)) {
      const definition = found.get(word)!;
      assert.equal(definition.path, join(installed(), file));
      assert.equal(definition.text.slice(0, text.length), text);
    }
    const checked = (await output(join(bin, "tsc"), ["--listFilesOnly"], folder)).trim().split("\n");
    assert.deepEqual(checked.filter((file) => !file.endsWith(".d.ts")), [path]);
  });

  // Bun does not read source maps: its stacks name modules.
  for (const [kind, words] of [[npmKinds[0], "node --enable-source-maps"], [npmKinds[2], "deno run -A"]] as const) {
    test(`has stacks that name lines of sources with "${words}"`, async () => {
      const consumer = { ...consumers.get(kind.install)!, run: words };
      const frames = [...(await runModule("stacks.mjs", stacks, consumer)).matchAll(FRAME)];
      const names = frames.map(([, name]) => name);
      assert.deepEqual([...new Set(names)].sort(), Object.keys(calls).sort());
      for (const [frame, name, place, source, line] of frames) {
        assert.equal(place.startsWith("https://jsr.io/@millrace/streams/"), !sources.test(source), frame);
        const lines = (await readFile(join(root, source), "utf8")).split("\n");
        assert.ok(lines[Number(line) - 1].includes(calls[name]), frame);
      }
    });
  }

  for (const kind of npmKinds) {
    test(`by "${kind.install}": every subpath loads, and the codecs find their modules`, async () => {
      await checkModules(consumers.get(kind.install)!, subpaths);
    });

    test(`by "${kind.install}": require() takes it`, async () => {
      assert.equal(await runModule("requires.cjs", requires, consumers.get(kind.install)!), "a,b true function");
    });

    test(`by "${kind.install}": "${kind.command}" precompresses a folder and serves it`, async () => {
      await checkCommand(consumers.get(kind.install)!);
    });

    const isOnce = !isLong && kind !== npmKinds[0] && "docs/examples_isolated_test.ts runs them on each runtime";
    test(`by "${kind.install}": the examples of README run`, { skip: isOnce }, async () => {
      await checkReadme(consumers.get(kind.install)!);
    });
  }

  test("is type checked by Deno as a consumer's dependency", async () => {
    const consumer = consumers.get(npmKinds[2].install)!;
    await writeFile(join(consumer.folder, "types.ts"), browserTypes);
    await runWords("deno check types.ts", [], consumer);
  });

  for (const [module, resolution] of [["esnext", "bundler"], ["nodenext", "nodenext"]]) {
    // Declarations are checked with the stricter of the two.
    for (const skipped of isLong ? ["true", "false"] : [String(resolution === "bundler")]) {
      test(`each subpath has types, and compiles strictly, with moduleResolution ${resolution} and skipLibCheck ${skipped}`, async () => {
        const { folder } = consumers.get(npmKinds[0].install)!;
        const options = ["--module", module, "--moduleResolution", resolution, "--skipLibCheck", skipped];
        const dom = ["--lib", "es2024,dom,dom.iterable"];
        const imports = subpaths.map((subpath, i) => {
          const specifier = `@millrace/streams${subpath.slice(1)}`;
          return `import * as names${i} from "${specifier}";\nexport type All${i} = typeof names${i};`;
        });
        const forServers = { "server.mts": serverTypes, "subpaths.mts": imports.join("\n") };
        await Promise.all([
          typeCheck(folder, { "browser.mts": browserTypes }, [...options, ...dom, "--types", ""]),
          typeCheck(folder, forServers, [...options, ...dom, "--types", "node"]),
        ]);
      });
    }
  }

  // Each of the libraries and of the types; in a long run also others with one another.
  const libraries = [
    ["es2022,dom"],
    ["esnext,webworker,webworker.iterable"],
    ["es2022", "node"],
    ["es2024,dom,dom.iterable,dom.asynciterable", "bun"],
    ...isLong
      ? [
        ["es2022,dom,dom.iterable"],
        ["es2024,dom,dom.iterable,dom.asynciterable"],
        ["es2022,webworker"],
        ["esnext", "node"],
        ["es2022,dom", "node"],
        ["es2022", "bun"],
        ["esnext", "bun"],
        ["es2022,dom", "bun"],
      ]
      : [],
  ];
  for (const [lib, types = ""] of libraries) {
    test(`compiles with lib ${lib} and ${types === "" ? "no types" : `the types of ${types}`}, and is still checked`, async () => {
      const { folder } = consumers.get(npmKinds[0].install)!;
      const options = ["--module", "nodenext", "--skipLibCheck", "false", "--lib", lib];
      // Bun's types have another name here: packages that find them under their own take them for the whole project's.
      const bun = ["--types", "types-of-bun", "--typeRoots", join(root, "node_modules")];
      options.push(...types === "bun" ? bun : ["--types", types]);
      // The rest of these options makes no difference for what only servers have.
      const isForServers = types !== "" && (isLong || lib === "es2022");
      const sources = { "streams.mts": streamTypes, ...isForServers && { "server.mts": serverTypes } };
      await typeCheck(folder, sources, options);
    });
  }

  test("compiles the examples of README in a project of modules", async () => {
    const { folder } = consumers.get(npmKinds[0].install)!;
    await mkdir(join(folder, "blocks"), { recursive: true });
    await writeFile(join(folder, "blocks/package.json"), `{ "type": "module" }`);
    const complaints = checkBlocks(readBlocks(["README.md"], root), folder);
    assert.equal(complaints.join("\n"), "");
  });

  test("is bundled without the codecs where only streams are used", async () => {
    const { folder } = consumers.get(npmKinds[0].install)!;
    await build({
      stdin: {
        contents: `import { LineStream, ReadableStream } from "@millrace/streams";
          const text = new TextEncoder().encode("round\\nand round");
          for await (const line of ReadableStream.from([text]).pipeThrough(new LineStream())) console.log(line);`,
        resolveDir: folder,
      },
      bundle: true,
      format: "esm",
      platform: "browser",
      minify: true,
      outfile: join(folder, "bundle.mjs"),
    });
    const bundle = await readFile(join(folder, "bundle.mjs"), "utf8");
    assert.ok(bundle.length < 90_000, `${bundle.length} bytes`);
    assert.doesNotMatch(bundle, /CompressionStream/);
    assert.equal(await output(process.execPath, ["bundle.mjs"], folder), "round\nand round\n");
  });
});

/** Returns the paths of an installed package's files. */
async function packedPaths(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

/** Checks the types of modules, by their names, in one program. */
async function typeCheck(
  folder: string,
  sources: Readonly<Record<string, string>>,
  options: readonly string[],
): Promise<void> {
  for (const [name, source] of Object.entries(sources)) await writeFile(join(folder, name), source);
  const { code, stdout } = await run(join(bin, "tsc"), [
    "--ignoreConfig",
    "--checkers", // more of them check much of the same
    "1",
    "--strict",
    "--noEmit",
    "--target",
    "es2024",
    ...options,
    ...Object.keys(sources),
  ], folder);
  assert.equal(code, 0, stdout);
}
