import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import test from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as codecs from "../../lib/codecs/mod.ts";
import { createCompression } from "../../lib/compression/mod.ts";
import { isTemporaryName, openFileReadable } from "../../lib/files/mod.ts";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { inFolder } from "../support/folders.ts";
import { root } from "../support/runtime.ts";

// deno-lint-ignore no-explicit-any -- the exports of any subpath
type Module = any;
/** A call of an export with one more argument or, where it takes options, an unknown one beside those it requires. */
type Call = (from: Module, extra: object, folder: string) => unknown;

const bytes = new Uint8Array(1);
const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
const source = (): ReadableStream => new Response("text").body!;
const request = (): Request => new Request("http://localhost/", { method: "POST", body: new FormData() });
const made = (name: string): Call => (from, extra) => new from[name](extra);
const series = (name: string): Call => (from, extra, directory) =>
  new from[name]({ directory, maxFileSize: 1, ...extra });
const called = (name: string): Call => (from, extra) => from[name](extra);
const inside = (name: string): Call => (from, extra, folder) => from[name](join(folder, "a"), extra);

/** The calls that refuse an object of which they read nothing, by the export's name, or by its subpath and name. */
const calls: Readonly<Record<string, Call>> = {
  CompressionStream: (from, extra) => new from.CompressionStream("gzip", extra),
  DecompressionStream: (from, extra) => new from.DecompressionStream("gzip", extra),
  CsvDecoderStream: made("CsvDecoderStream"),
  CsvEncoderStream: made("CsvEncoderStream"),
  JsonLineStream: made("JsonLineStream"),
  JsonLinesEncoderStream: made("JsonLinesEncoderStream"),
  LineStream: made("LineStream"),
  LineToNumberStream: made("LineToNumberStream"),
  NumberToLineStream: made("NumberToLineStream"),
  NumberFileWriter: series("NumberFileWriter"),
  RotatingFileWritable: series("RotatingFileWritable"),
  HttpClient: made("HttpClient"),
  S3Bucket: (from, extra) => new from.S3Bucket({ endpoint: "http://127.0.0.1:2", bucket: "a", credentials, ...extra }),
  AtomicFile: (from, extra, folder) => from.AtomicFile.open(join(folder, "a"), extra),
  broadcast: (from, extra) => from.broadcast(source(), extra),
  cleanPrecompressed: (from, extra, folder) => from.cleanPrecompressed(folder, extra),
  coalesceBytes: called("coalesceBytes"),
  compress: (from, extra) => from.compress(bytes, { format: "gzip", ...extra }),
  compressSync: (from: typeof codecs, extra) => from.compressSync(bytes, { format: "gzip", ...extra }),
  decompress: (from, extra) => from.decompress(bytes, { format: "gzip", ...extra }),
  decompressSync: (from: typeof codecs, extra) => from.decompressSync(bytes, { format: "gzip", ...extra }),
  copyFileAtomic: (from, extra, folder) => from.copyFileAtomic(join(folder, "a"), join(folder, "b"), extra),
  createCompression: called("createCompression"),
  createEventChannel: called("createEventChannel"),
  createStaticHandler: (from, extra, folder) => from.createStaticHandler(folder, extra),
  createUploadHandler: (from, extra, directory) => from.createUploadHandler({ directory, ...extra }),
  openLogDestination: (from, extra, directory) => from.openLogDestination({ directory, maxFileSize: 1, ...extra }),
  followFile: inside("followFile"),
  fromNative: (from, extra) => from.fromNative(source(), extra),
  fromNodeReadable: (from, extra) => from.fromNodeReadable(Readable.from([]), extra),
  fromNodeWritable: (from, extra) => from.fromNodeWritable(new Writable(), extra),
  isAbandonedTemporary: inside("isAbandonedTemporary"),
  isTemporaryName: inside("isTemporaryName"),
  openFileReadable: inside("openFileReadable"),
  openFileWritable: inside("openFileWritable"),
  pipeThrough: (from, extra) => from.pipeThrough(source(), new TransformStream(), extra),
  pipeTo: (from, extra) => from.pipeTo(source(), new WritableStream(), extra),
  precompress: (from, extra, folder) => from.precompress(folder, extra),
  "./bun precompress": called("precompress"),
  "./esbuild precompress": called("precompress"),
  "./vite precompress": called("precompress"),
  readBatches: (from, extra) => from.readBatches(source(), extra),
  readManifest: (from, extra, folder) => from.readManifest(folder, extra),
  removeAbandonedTemporaries: (from, extra, folder) => from.removeAbandonedTemporaries(folder, extra),
  saveBody: (from, extra, folder) => from.saveBody(request(), join(folder, "a"), extra),
  saveForm: (from, extra, folder) => from.saveForm(request(), folder, extra),
  "./hono compress": (from, extra) => from.compress(createCompression(), extra),
  "./hono serveStatic": async (from, extra, folder) => {
    await using site = await createStaticHandler(folder);
    from.serveStatic(site, extra);
  },
  temporaryPath: inside("temporaryPath"),
  toNative: (from, extra) => from.toNative(source(), extra),
};

/** The exports that have their arguments by a standard, or from other code, and the reason. */
const others: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:(?:Readable|Writable|Transform)\w+|\w+QueuingStrategy|BatchedWriter)$/,
    "the Streams Standard: Web IDL ignores unknown members and further arguments",
  ],
  [/^BatchedWritableStream$/, "sinks may have members of their own: tests/batch/sink_test.ts has misspelt ones"],
  [/Error$/, "the language: errors ignore further arguments, as Error does"],
  [/^\.\/fastify /, "Fastify passes on its own options, such as prefix"],
  [/^(?:provide|ready)$/, "no options: arguments of a fixed type, which are checked, and no more of them"],
];

const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
/** Scripts, whose import has effects. */
const scripts = ["./cli", "./install"];
const seen = new Set<unknown>();

for (const [subpath, path] of Object.entries<string>(exports).filter(([name]) => !scripts.includes(name))) {
  const from: Module = await import(pathToFileURL(join(root, path)).href);
  for (const [name, value] of Object.entries(from)) {
    if (typeof value !== "function" || name === "default" || seen.has(value)) continue;
    seen.add(value);
    if (others.some(([names]) => names.test(name) || names.test(`${subpath} ${name}`))) continue;
    test(`${name} of ${subpath} refuses an option that it does not have, by its name`, async () => {
      const refusing = calls[`${subpath} ${name}`] ?? calls[name];
      assert.ok(refusing, "name a call of it, or the reason why there is none");
      await inFolder(async (folder) => {
        const call = async (): Promise<unknown> => await refusing(from, { noSuchOption: 1 }, folder);
        await assert.rejects(call, { name: "TypeError", message: /noSuchOption|has no options|and nothing else$/ });
      });
    });
  }
}

test("functions without options take what map() and filter() of lists and of node:stream pass beside the item", async () => {
  assert.deepEqual(["a"].filter(isTemporaryName), []);
  assert.deepEqual(await Readable.from(["a"]).filter(isTemporaryName).toArray(), []);
  const itself = fileURLToPath(import.meta.url);
  const [first] = await Readable.from([itself]).map(openFileReadable).toArray();
  assert.match(await new Response(first).text(), /toArray/);
});
