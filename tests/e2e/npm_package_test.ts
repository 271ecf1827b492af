import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test, { after, before, describe } from "node:test";
import { build } from "esbuild";
import { root, run, runtime } from "./consumer.ts";
import { checkCommand, checkModules } from "./consumer_checks.ts";
import { type Consumer, makeConsumer, npmKinds, runModule, runWords } from "./consumer_kinds.ts";
import { browserTypes, requires, serverTypes } from "./consumer_modules.ts";
import { bin, publishCopy, type Published } from "./published.ts";

const { exports, dependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const subpaths = Object.keys(exports).filter((subpath) => subpath !== "./cli");

/** By the words that installed the package. */
const consumers = new Map<string, Consumer>();
let published: Published;

describe("the npm package", { skip: runtime !== "node" && "it runs all runtimes itself" }, () => {
  before(async () => {
    published = await publishCopy("npm");
    for (const kind of npmKinds) consumers.set(kind.install, await makeConsumer(kind, published));
  });

  after(() => published[Symbol.asyncDispose]());

  const installed = (): string => join(consumers.get(npmKinds[0].install)!.folder, "node_modules/@millrace/streams");

  test("is found by name, and needs nothing but the dependencies it names", async () => {
    assert.deepEqual([...published.npm.missing], []);
    const { version } = JSON.parse(await readFile(join(installed(), "package.json"), "utf8"));
    assert.equal(version, published.version);
    const modules = await readdir(join(consumers.get(npmKinds[0].install)!.folder, "node_modules"));
    const own = modules.filter((name) => !name.startsWith("."));
    assert.deepEqual(own.sort(), ["@millrace", "mime-db", ...Object.keys(dependencies)].sort());
  });

  test("is installed and used by the commands that README gives", async () => {
    const readme = await readFile(join(installed(), "README.md"), "utf8");
    const words = npmKinds.flatMap(({ install, command }) => [install, command]);
    assert.deepEqual(words.filter((words) => !readme.includes(words)), []);
  });

  test("holds what is built and its papers, and nothing else", async () => {
    const paths = await packedPaths(installed());
    const papers = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];
    const pages = /^lib\/.*\.(md|svg)$/; // which README links to
    const others = paths.filter((path) => !path.startsWith("dist/") && !pages.test(path));
    assert.deepEqual(others.sort(), papers);
    assert.deepEqual(paths.filter((path) => path.startsWith("dist/") && !/\.(js|d\.ts)$/.test(path)), []);
    assert.deepEqual(paths.filter((path) => /(^|\/)(tests?|bench|\.ci)\/|_test\./.test(path)), []);
  });

  test("holds nothing twice, and no more than 4.5 MB", async () => {
    const paths = await packedPaths(installed());
    const contents = await Promise.all(paths.map(async (path) => await readFile(join(installed(), path))));
    assert.deepEqual(paths.filter((_, i) => contents.findIndex((bytes) => bytes.equals(contents[i])) !== i), []);
    const total = contents.reduce((sum, { length }) => sum + length, 0);
    assert.ok(total < 4_500_000, `${total} bytes`);
    for (const codec of ["brotli_decoder", "brotli_encoder", "zstd_decoder", "zstd_encoder"]) {
      assert.equal(paths.filter((path) => path.endsWith(`/${codec}.js`)).length, 1, codec);
    }
  });

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
  }

  test("is type checked by Deno as a consumer's dependency", async () => {
    const consumer = consumers.get(npmKinds[2].install)!;
    await writeFile(join(consumer.folder, "types.ts"), browserTypes);
    await runWords("deno check types.ts", [], consumer);
  });

  const modes = [["esnext", "bundler"], ["nodenext", "nodenext"]];
  for (const [module, resolution] of modes) {
    for (const skipped of ["true", "false"]) {
      test(`compiles strictly with moduleResolution ${resolution} and skipLibCheck ${skipped}`, async () => {
        const { folder } = consumers.get(npmKinds[0].install)!;
        const options = ["--strict", "--noEmit", "--target", "es2024", "--module", module];
        const shared = [...options, "--moduleResolution", resolution, "--skipLibCheck", skipped];
        const node = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node"];
        await Promise.all([
          typeCheck(folder, "browser.mts", browserTypes, [
            ...shared,
            "--lib",
            "es2024,dom,dom.iterable",
            "--types",
            "",
          ]),
          typeCheck(folder, "server.mts", serverTypes, [...shared, "--lib", "es2024,dom,dom.iterable", ...node]),
        ]);
      });
    }
  }

  test("is bundled without the codecs where only streams are used", async () => {
    const { folder } = consumers.get(npmKinds[0].install)!;
    const { outputFiles, metafile } = await build({
      stdin: {
        contents: `import { LineStream } from "@millrace/streams"; console.log(LineStream);`,
        resolveDir: folder,
      },
      bundle: true,
      format: "esm",
      platform: "browser",
      minify: true,
      metafile: true,
      write: false,
    });
    const [{ bytes }] = Object.values(metafile.outputs);
    assert.equal(outputFiles.length, 1);
    assert.ok(bytes < 90_000, `${bytes} bytes`);
    assert.doesNotMatch(outputFiles[0].text, /CompressionStream/);
  });
});

/** The paths of an installed package's files. */
async function packedPaths(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

async function typeCheck(folder: string, name: string, source: string, options: readonly string[]): Promise<void> {
  await writeFile(join(folder, name), source);
  const { code, stdout } = await run(join(bin, "tsc"), ["--ignoreConfig", ...options, name], folder);
  assert.equal(code, 0, stdout);
}
