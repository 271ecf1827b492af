import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before, describe } from "node:test";
import * as brotli from "../../lib/codecs/brotli.ts";
import * as gzip from "../../lib/codecs/gzip.ts";
import * as codecs from "../../lib/codecs/mod.ts";
import { Codec } from "../../lib/codecs/module.ts";
import * as zstd from "../../lib/codecs/zstd.ts";

const entries = { brotli, gzip, zstd };
const formats = { brotli: ["brotli", "dcb"], gzip: ["gzip", "deflate", "deflate-raw"], zstd: ["zstd", "dcz"] } as const;
const text = new TextEncoder().encode("round and round ".repeat(5000));

for (const [name, entry] of Object.entries(entries) as ["gzip", typeof gzip][]) {
  test(`the entry of ${name} writes the bytes that ./codecs does, and reads them`, async () => {
    for (const format of formats[name]) {
      const dictionary = /dc./.test(format) ? text.slice(0, 100) : undefined;
      const expected = await codecs.compress(text, { format, dictionary });
      assert.deepEqual(await entry.compress(text, { format, dictionary }), expected);
      assert.deepEqual(await entry.decompress(expected, { format, dictionary }), text);
      const there = new Blob([text]).stream().pipeThrough(new entry.CompressionStream(format, { dictionary }));
      const back = there.pipeThrough(new entry.DecompressionStream(format, { dictionary }));
      assert.deepEqual(await new Response(back).bytes(), text);
    }
  });

  test(`the entry of ${name} has that format where none is named`, async () => {
    assert.deepEqual(await entry.compress(text), await codecs.compress(text, { format: name }));
    assert.deepEqual(await entry.decompress(await entry.compress(text)), text);
    const unnamed = { format: undefined, level: undefined };
    assert.deepEqual(await entry.compress(text, unnamed), await entry.compress(text));
    assert.deepEqual(await entry.decompress(await entry.compress(text), { format: undefined }), text);
    const stream = new Blob([text]).stream().pipeThrough(new entry.CompressionStream(undefined, { level: undefined }));
    assert.deepEqual(await new Response(stream.pipeThrough(new entry.DecompressionStream())).bytes(), text);
  });

  test(`the entry of ${name} says where other formats are, and refuses options as ./codecs does`, async () => {
    const other = name === "gzip" ? "zstd" : "gzip";
    const elsewhere = `this entry has no codec for ${other}: import @millrace/streams/codecs, which has all`;
    await assert.rejects(entry.compress(text, { format: other }), { name: "TypeError", message: elsewhere });
    await assert.rejects(entry.decompress(text, { format: other }), { name: "TypeError", message: elsewhere });
    assert.throws(() => new entry.CompressionStream(other as "gzip"), { name: "TypeError", message: elsewhere });
    await assert.rejects(entry.compress(text, { levle: 1 } as object), /unknown option "levle"/);
    assert.throws(() => new entry.DecompressionStream(name, { maxSize: -1 }), /maxSize/);
  });
}

test("streams of an entry are the runtime's", () => {
  const { readable, writable } = new gzip.CompressionStream();
  assert.equal(Object.getPrototypeOf(readable), ReadableStream.prototype);
  assert.equal(Object.getPrototypeOf(writable), WritableStream.prototype);
});

describe("modules that the host has compiled", () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-wasm-"));
  const module = (name: string): WebAssembly.Module =>
    new WebAssembly.Module(readFileSync(join(folder, `${name}.wasm`)) as BufferSource);

  before(async () => {
    const { writeCodecs } = await import("../../.ci/wasm_files.ts");
    await writeCodecs(folder);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test("a codec takes that of its name, and the text is not asked for", async () => {
    const asked = (): never => assert.fail("the text was asked for");
    for (const name of ["gzip", "brotli", "zstd"] as const) {
      for (const direction of ["encoder", "decoder"] as const) {
        const given = module(`${name}_${direction}`);
        codecs.provide(given);
        assert.equal(await new Codec(`${name}_${direction}`, asked).load(), given);
      }
      const small = await entries[name].compress(text, { format: name as "gzip" });
      assert.deepEqual(await codecs.decompress(small, { format: name }), text);
    }
  });

  test("others are refused", () => {
    const message = "provide() takes modules of this version's .wasm files: see @millrace/streams/codecs/gzip";
    const former = [0, 21, 8, ...new TextEncoder().encode("millracegzip_encoder")];
    for (const section of [[], former]) {
      const foreign = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...section]));
      assert.throws(() => codecs.provide(foreign), { name: "TypeError", message });
    }
    for (const other of [undefined, "/gzip_encoder.wasm", {}]) {
      assert.throws(() => codecs.provide(other as never), /^TypeError: module must be a WebAssembly\.Module, not /);
    }
  });
});

describe("a codec that cannot be loaded", () => {
  const { WebAssembly: native } = globalThis;
  const bytes = { wasm: "AGFzbQEAAAA=" };
  const within = async (WebAssembly: unknown, load: () => Promise<unknown>): Promise<string> => {
    Object.defineProperty(globalThis, "WebAssembly", { value: WebAssembly, configurable: true, writable: true });
    const error = await load().then(() => assert.fail("it was loaded"), (error: unknown) => error);
    Object.defineProperty(globalThis, "WebAssembly", { value: native, configurable: true, writable: true });
    return String(error);
  };

  test("says so in plain words where there is no WebAssembly", async () => {
    const message = await within(undefined, () => new Codec("none_encoder" as never, () => bytes).load());
    assert.match(message, /^TypeError: codecs cannot run: there is no WebAssembly here/);
    assert.match(
      await within(undefined, () => Promise.try(() => codecs.provide({} as never))),
      /^TypeError: module must/,
    );
  });

  test("names the file and the function that are the way out where none is compiled", async () => {
    const compile = () => Promise.reject(new native.CompileError("Wasm code generation disallowed by embedder"));
    const host = { ...native, CompileError: native.CompileError, compile };
    const message = await within(host, () => new Codec("none_encoder" as never, () => bytes).load());
    assert.match(message, /^TypeError: codecs cannot run.*'wasm-unsafe-eval' in script-src; .*Cloudflare Workers/);
    assert.match(message, /codecs\/none_encoder\.wasm and give it to provide\(\) of @millrace\/streams\/codecs\/none$/);
  });

  test("names the entry to import where import() is forbidden, and is tried again", async () => {
    let isForbidden = true;
    const source = () => isForbidden ? Promise.reject(new TypeError("import() is disallowed")) : bytes;
    const codec = new Codec("none_decoder" as never, source);
    const message =
      "cannot load none_decoder: import @millrace/streams/codecs/none by a static import where import() " +
      "fails, as in service workers";
    await assert.rejects(codec.load(), { name: "TypeError", message, cause: new TypeError("import() is disallowed") });
    isForbidden = false;
    assert.ok(await codec.load() instanceof WebAssembly.Module);
  });
});
