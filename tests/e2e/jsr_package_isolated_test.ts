import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import test, { after, before, describe } from "node:test";
import { builtPackage } from "../support/built_package.ts";
import { run } from "../support/processes.ts";
import { runtime } from "../support/runtime.ts";
import { checkCommand, checkModules, checkReadme } from "./consumer_checks.ts";
import { type Consumer, jsrKind, makeConsumer, onPath, runWords } from "./consumer_kinds.ts";
import { browserTypes, serverTypes } from "./consumer_modules.ts";
import { publishCopy, type Published } from "./published.ts";

let published: Published;
let consumer: Consumer;
let files: ReadonlyMap<string, Uint8Array>;
let subpaths: readonly string[];

describe("the JSR package", { skip: runtime !== "node" && "Deno is what imports from JSR" }, () => {
  before(async () => {
    published = await publishCopy("deno", await builtPackage());
    consumer = await makeConsumer(jsrKind, published);
    files = published.jsr.files("@millrace/streams", published.version);
    const { exports } = JSON.parse(new TextDecoder().decode(files.get("/deno.json")));
    subpaths = Object.keys(exports).filter((subpath) => subpath !== "./cli");
  });

  after(() => published[Symbol.asyncDispose]());

  test("holds modules, their types, its sources and papers, and nothing else", () => {
    const others = [...files.keys()].filter((path) => !/^\/(?:lib|chunks)\//.test(path) && !path.includes("/wasm/"))
      .sort();
    assert.deepEqual(others, [
      "/CHANGELOG.md",
      "/LICENSE",
      "/README.md",
      "/deno.json",
      "/mod.d.ts",
      "/mod.js",
      "/mod.ts",
    ]);
    assert.deepEqual(
      [...files.keys()].filter((path) => !/(?<!_test)\.(?:js|ts|json|md|svg)$|LICENSE$/.test(path)),
      ["/browser/wasm/THIRD_PARTY_NOTICES.txt"],
    );
  });

  test("holds the sources that source maps of the npm package name by their addresses", async () => {
    const built = await builtPackage();
    const maps = globSync("**/*.js.map", { cwd: built }).map((path) => readFileSync(join(built, path), "utf8"));
    const places = new Set(maps.flatMap((text) => JSON.parse(text).sources as string[]));
    const prefix = `https://jsr.io/@millrace/streams/${published.version}`;
    const named = [...places].filter((place) => !place.startsWith("../"));
    assert.deepEqual(named.filter((place) => !place.startsWith(prefix) || !files.has(place.slice(prefix.length))), []);
    assert.ok(named.length > 200, `${named.length}`);
  });

  test("is installed and used by the commands that README gives", () => {
    const readme = new TextDecoder().decode(files.get("/README.md"));
    assert.deepEqual([jsrKind.install, jsrKind.command].filter((words) => !readme.includes(words)), []);
  });

  test("names its dependencies in full, as JSR has no import map", () => {
    const modules = [...files].filter(([path]) => /\.(?:js|d\.ts)$/.test(path));
    const bare = modules.flatMap(([path, bytes]) => {
      const imports = new TextDecoder().decode(bytes).matchAll(
        /(?:^|;)(?:import|export)\b[^"';()]*?\bfrom ?"([^"]+)"/gm,
      );
      return [...imports].map(([, specifier]) => `${path}: ${specifier}`);
    }).filter((line) => !/: (\.|node:|npm:)/.test(line));
    assert.deepEqual(bare, []);
  });

  test(`by "${jsrKind.install}": every subpath loads, and the codecs find their modules`, async () => {
    await checkModules(consumer, subpaths);
  });

  test(`by "${jsrKind.install}": "${jsrKind.command}" precompresses a folder and serves it`, async () => {
    await checkCommand(consumer);
  });

  test(`by "${jsrKind.install}": the examples of README run`, async () => {
    await checkReadme(consumer);
  });

  test("is type checked by Deno as a consumer's dependency", async () => {
    await writeFile(join(consumer.folder, "browser.ts"), browserTypes);
    await writeFile(join(consumer.folder, "server.ts"), serverTypes);
    await runWords("deno check browser.ts server.ts", [], consumer);
  });

  test("is imported by its full name, and its codecs need no permission", async () => {
    const source = `import { compress, decompress } from "jsr:@millrace/streams";
      const bytes = new TextEncoder().encode("round and round ".repeat(500));
      for (const format of ["zstd", "brotli", "gzip"] as const) {
        console.log((await decompress(await compress(bytes, { format }), { format })).length);
      }`;
    await writeFile(join(published.folder, "alone.ts"), source);
    const deno = onPath("deno", consumer.env.PATH);
    const { code, stdout, stderr } = await run(deno, ["run", "alone.ts"], published.folder, consumer.env);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, "8000\n8000\n8000\n");
  });
});
