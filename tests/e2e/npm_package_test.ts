import assert from "node:assert/strict";
import { access, cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test, { after, before } from "node:test";
import { makeProject, makeSite, output, root, runtime, siteVariants } from "./consumer.ts";

let folder = "";
let app = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-npm-"));
  // Packing builds; in a copy, it is in nobody's way.
  const copy = join(folder, "copy");
  const parts = [".ci", "lib", "mod.ts", "package.json", "tsconfig.json", "README.md", "CHANGELOG.md", "LICENSE"];
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  await output("npm", ["pack", "--silent", "--pack-destination", folder], copy);
  app = await makeProject(join(folder, "app"));
  const tarball = join(folder, (await readdir(folder)).find((name) => name.endsWith(".tgz"))!);
  const install = runtime === "bun"
    ? output(process.execPath, ["add", tarball], app)
    : output("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], app);
  await install;
});

after(() => rm(folder, { recursive: true, force: true }));

/** Runs a module of the consumer's on the runtime under test. */
async function runModule(name: string, source: string): Promise<string> {
  await writeFile(join(app, name), source);
  return (await output(process.execPath, [name], app)).trim();
}

test("the npm package holds what is built and its papers, and nothing else", async () => {
  const entries = await readdir(join(app, "node_modules/@millrace/streams"));
  const expected = ["CHANGELOG.md", "LICENSE", "README.md", "dist", "package.json"];
  const packed = entries.filter((entry) => entry !== "node_modules" && entry !== ".bun-tag"); // made by installing
  assert.deepEqual(packed.sort(), expected);
  const sources = (await readdir(join(app, "node_modules/@millrace/streams/dist"), { recursive: true }))
    .filter((path) => /\.ts$/.test(path) && !/\.d\.ts$/.test(path));
  assert.deepEqual(sources, []);
});

test("every subpath of the npm package loads", async () => {
  const names = await runModule(
    "names.js",
    `const subpaths = ["", "/batch", "/codecs", "/files", "/http", "/install", "/node", "/precompress", "/static", "/streams", "/text", "/upload"];
     for (const subpath of subpaths) console.log(Object.keys(await import("@millrace/streams" + subpath)).join(" "));`,
  );
  const [all, batch, codecs, files, http, install, node, precompress, statics, streams, text] = names.split("\n")
    .map((line) => line.split(" "));
  assert.deepEqual(all.filter((name) => ![batch, codecs, streams, text].some((names) => names.includes(name))), []);
  assert.ok(batch.includes("BatchedWritableStream"));
  assert.ok(codecs.includes("decompress"));
  assert.ok(files[0] !== "");
  assert.ok(http.includes("HttpClient"));
  assert.ok(install.includes("uninstall"));
  assert.ok(node.includes("fromNodeWritable"));
  assert.ok(precompress.includes("precompress"));
  assert.ok(statics.includes("createStaticHandler"));
  assert.ok(streams.includes("ReadableStream"));
  assert.ok(text.includes("LineStream"));
});

test("the stream classes of the npm package have their names", async () => {
  const names = await runModule(
    "class_names.js",
    `import * as streams from "@millrace/streams/streams";
     for (const [name, { prototype }] of Object.entries(streams)) {
       if (prototype === undefined || name[0] !== name[0].toUpperCase()) continue;
       console.log(name, streams[name].name, prototype[Symbol.toStringTag]);
     }`,
  );
  const lines = names.trim().split("\n");
  assert.equal(lines.length, 13);
  for (const line of lines) assert.match(line, /^(\w+) \1 (\1|undefined)$/);
});

test("the codecs of the npm package load their modules", async () => {
  const result = await runModule(
    "codecs.js",
    `import { compress, decompress } from "@millrace/streams";
     const bytes = new TextEncoder().encode("round and round ".repeat(500));
     for (const format of ["zstd", "brotli", "gzip"]) {
       const back = await decompress(await compress(bytes, { format }), { format });
       console.log(back.length);
     }`,
  );
  assert.equal(result, "8000\n8000\n8000");
});

test("the npm package's precompress() starts its workers", async () => {
  const site = await makeSite(join(folder, "site-api"));
  await runModule(
    "precompress.js",
    `import { precompress } from "@millrace/streams/precompress";
     await precompress(${JSON.stringify(site)}, { jobs: 2 });`,
  );
  for (const path of siteVariants) await access(join(site, path));
});

test("the npm package's command precompresses a folder", async () => {
  const site = await makeSite(join(folder, "site-command"));
  const { bin } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const launcher = {
    node: [join(app, "node_modules/.bin/millrace")],
    bun: [process.execPath, "run", "--bun", "millrace"],
    deno: [process.execPath, "run", "-A", join(app, "node_modules/@millrace/streams", bin.millrace)],
  }[runtime];
  await output(launcher[0], [...launcher.slice(1), "precompress", site], app);
  for (const path of siteVariants) await access(join(site, path));
});

test("a strict TypeScript consumer compiles against the npm package", async () => {
  await writeFile(
    join(app, "consumer.ts"),
    `import { compress, CompressionStream, type Format } from "@millrace/streams";
     import { precompress } from "@millrace/streams/precompress";
     import { BatchedWritableStream, coalesceBytes } from "@millrace/streams/batch";
     import * as files from "@millrace/streams/files";
     import { fromNodeWritable } from "@millrace/streams/node";
     import { LineToNumberStream } from "@millrace/streams/text";
     import * as streams from "@millrace/streams/streams";
     // callbacks typed by our classes, by the platform's, and by inference
     const source: UnderlyingDefaultSource<string> = { start: (controller) => controller.enqueue("one") };
     export const platform: ReadableStream<string> = new streams.ReadableStream<string>(source);
     export const own = new streams.ReadableStream<string>({
       pull(controller: streams.ReadableStreamDefaultController<string>) { controller.close(); },
     });
     export const bytesOnly = new streams.ReadableStream({ type: "bytes", pull: ({ byobRequest }) => byobRequest?.respond(1) });
     export const lengths = own.pipeThrough(
       new streams.TransformStream<string, number>({ transform: (text, controller) => controller.enqueue(text.length) }),
     );
     // @ts-expect-error: no numbers here
     new streams.ReadableStream<string>({ pull: (controller) => controller.enqueue(1) });
     const format: Format = "zstd";
     export const bytes: Promise<Uint8Array> = compress(new Uint8Array(3), { format, level: 3 });
     export const stream: ReadableStream = new CompressionStream("brotli", { level: 5 }).readable;
     export const report = await precompress("site", {});
     export const names: string[] = Object.keys(files);
     export const batched = new BatchedWritableStream<number>({ writev: (batch) => void batch.map((n) => n.toFixed()) });
     export const joined: ReadableStream<Uint8Array<ArrayBuffer>> = streams.ReadableStream.from([new Uint8Array(1)])
       .pipeThrough(coalesceBytes({ size: 4096 }));
     export const numbers: ReadableStream<number> = new LineToNumberStream().readable;
     void numbers.pipeTo(batched, { preventClose: true });
     export const responded: Promise<void> = own.pipeTo(fromNodeWritable<string>(process.stdout));
     // @ts-expect-error: no such format
     export const wrong: Format = "lzma";\n`,
  );
  const tsc = join(root, "node_modules/.bin/tsc");
  const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2024", "--lib", "esnext,dom"];
  const types = ["--typeRoots", join(root, "node_modules/@types"), "--types", "node"];
  await output(tsc, [...options, ...types, "consumer.ts"], app);
});
