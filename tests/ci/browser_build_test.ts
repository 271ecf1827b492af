import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import test, { after, before, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build } from "esbuild";
import { buildBrowser, buildBundlerModules } from "../../.ci/browser_build.ts";
import type * as Millrace from "../../mod.ts";
import { runtime } from "../support/runtime.ts";

let folder = "";

function brotliKilobytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + brotliCompressSync(text).length, 0) / 1000;
}

function near(name: string, size: number, said: number): void {
  assert.ok(Math.abs(size / said - 1) < 0.03, `${name}: ${size.toFixed(1)} kB, not ${said}`);
}

describe("what is built for browsers", { skip: runtime !== "node" && "it is the same on all runtimes" }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-build-"));
    await buildBrowser(join(folder, "browser"));
    await buildBundlerModules(join(folder, "modules"), join(folder, "browser/wasm"));
    // As `dist/package.json` says of all modules but those of `install` and of the command.
    await writeFile(join(folder, "modules/package.json"), '{ "type": "module", "sideEffects": false }');
  });

  after(() => rm(folder, { recursive: true, force: true }));

  const load = (path: string): Promise<typeof Millrace> => import(pathToFileURL(join(folder, path)).href);

  for (const path of ["browser/mod.js", "modules/mod.js"]) {
    test(`${path} exports what . does`, async () => {
      assert.deepEqual(Object.keys(await load(path)).sort(), Object.keys(await import("../../mod.ts")).sort());
      assert.equal((await load(path)).ReadableStream.from.name, "from");
    });

    test(`${path} takes bytes to lines, numbers and batches`, async () => {
      const { BatchedWritableStream, LineToNumberStream, ReadableStream, TransformStream } = await load(path);
      const numbers: number[] = [];
      const double = new TransformStream<number, number>({
        transform: (number, controller) => controller.enqueue(number * 2),
      });
      await ReadableStream.from([new TextEncoder().encode("1\n2.5\n"), new TextEncoder().encode("3\n")])
        .pipeThrough(new LineToNumberStream()).pipeThrough(double)
        .pipeTo(new BatchedWritableStream({ writev: (batch) => void numbers.push(...batch) }));
      assert.deepEqual(numbers, [2, 5, 6]);
    });

    test(`${path} reads into the caller's buffer and branches`, async () => {
      const { ReadableStream } = await load(path);
      const bytes = new ReadableStream({
        type: "bytes",
        pull(controller) {
          const view = controller.byobRequest!.view!;
          new Uint8Array(view.buffer, view.byteOffset, 1)[0] = 7;
          controller.byobRequest!.respond(1);
          controller.close();
        },
      });
      const [first, second] = bytes.tee();
      assert.deepEqual((await first.getReader({ mode: "byob" }).read(new Uint8Array(4))).value, new Uint8Array([7]));
      assert.deepEqual(await new Response(second).bytes(), new Uint8Array([7]));
    });

    test(`${path} finds its codecs`, async () => {
      const { compress, CompressionStream, decompress, DecompressionStream } = await load(path);
      const text = "round and round ".repeat(500);
      for (const format of ["gzip", "zstd", "brotli"] as const) {
        const small = await compress(new TextEncoder().encode(text), { format });
        assert.equal(new TextDecoder().decode(await decompress(small, { format })), text);
        const stream = new Blob([text]).stream().pipeThrough(new CompressionStream(format));
        assert.equal(await new Response(stream.pipeThrough(new DecompressionStream(format))).text(), text);
      }
    });

    test(`${path} refuses unknown options, and lists the known ones`, async () => {
      const { LineStream } = await load(path);
      assert.throws(() => new LineStream({ maxLineLenght: 5 } as object), {
        name: "TypeError",
        message: 'LineStream: unknown option "maxLineLenght": use allowCR,maxLineLength',
      });
    });
  }

  test("the page about sizes says what a page downloads, to 3%", async () => {
    const page = readFileSync(new URL("../../lib/support.md", import.meta.url), "utf8");
    const said: [name: string, size: number][] = [];
    for (const [, names, size] of page.matchAll(/^\| (`[A-Za-z`, ]+?) +\| ([\d.]+) kB/gm)) {
      for (const name of names.includes(" or ") ? names.split(" or ") : [names]) {
        said.push([name.replaceAll("`", ""), Number(size)]);
      }
    }
    assert.ok(said.length >= 8);
    for (const [names, size] of said) near(names, brotliKilobytes(await bundle(names, true)), size);
    const [, streams, codecs, ...whole] =
      /streams\.js` loads ([\d.]+) kB, and `codecs\.js` ([\d.]+) kB[^]* (\d+) kB for\s+`decompress`, (\d+) kB\s+for\s+`compress`/
        .exec(page)!.map(Number);
    const chunks = ["chunks/streams.js", "streams.js"];
    near("streams.js", brotliKilobytes(chunks.map(readBuilt)), streams);
    near(
      "codecs.js",
      brotliKilobytes([...chunks.slice(0, 1), "chunks/streams_2.js", "chunks/codecs.js", "codecs.js"].map(readBuilt)),
      codecs,
    );
    near("decompress", brotliKilobytes(await bundle("decompress", false)), whole[0]);
    near("compress", brotliKilobytes(await bundle("compress", false)), whole[1]);
  });

  const readBuilt = (path: string): string => readFileSync(join(folder, "browser", path), "utf8");

  /** Returns the chunks that an import of names from the package loads at once. */
  async function bundle(names: string, splitting: boolean): Promise<string[]> {
    const contents = `export { ${names} } from "./modules/mod.js";`;
    const stdin = { contents, resolveDir: folder };
    const options = { bundle: true, minify: true, format: "esm", write: false, logLevel: "silent" } as const;
    const { outputFiles } = await build({ ...options, stdin, splitting, outdir: folder });
    const all = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
    const loaded = new Set<string>();
    const load = (name: string): void => {
      if (loaded.has(name)) return;
      loaded.add(name);
      for (const [, next] of all.get(name)!.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) load(next);
    };
    load("stdin.js");
    return [...loaded].map((name) => all.get(name)!);
  }

  test("pages that import one class or function take the browser's own streams with it", async () => {
    const native = (): ReadableStream<Uint8Array<ArrayBuffer>> => new Response("a\nb\n").body!;
    const taken: unknown[] = [];
    const into = (): WritableStream => new WritableStream({ write: (chunk) => void taken.push(chunk) });
    const uses: Record<string, (it: typeof Millrace) => Promise<unknown>> = {
      pipeTo: ({ pipeTo }) => pipeTo(native(), into()),
      ReadableStream: ({ ReadableStream }) => ReadableStream.from(["a", "b"]).pipeTo(into()),
      WritableStream: ({ WritableStream }) =>
        native().pipeTo(new WritableStream({ write: (it) => void taken.push(it) })),
      TransformStream: ({ TransformStream }) => native().pipeThrough(new TransformStream()).pipeTo(into()),
      LineStream: ({ LineStream }) => native().pipeThrough(new LineStream()).pipeTo(into()),
      readBatches: async ({ readBatches }) => {
        for await (const batch of readBatches(native())) taken.push(batch);
      },
      toNative: async ({ toNative }) => taken.push(await toNative(native()).getReader().read()),
      ReadableStreamDefaultReader: async ({ ReadableStreamDefaultReader: Reader }) =>
        taken.push(await new Reader(native()).read()),
      ReadableStreamBYOBReader: async ({ ReadableStreamBYOBReader: Reader }) =>
        taken.push(await new Reader(native()).read(new Uint8Array(8))),
    };
    for (const [name, use] of Object.entries(uses)) {
      const [text] = await bundle(name, false);
      await writeFile(join(folder, `only_${name}.mjs`), text);
      await use(await load(`only_${name}.mjs`));
      assert.ok(taken.splice(0).length > 0, name);
    }
  });

  test("classes and functions that make no byte streams bring none into a page", async () => {
    const names = "DecompressionStream, LineStream, TransformStream, coalesceBytes, pipeTo, readBatches";
    const [text] = await bundle(names, false);
    assert.doesNotMatch(text, /ReadableByteStreamController/);
    await writeFile(join(folder, "without_bytes.mjs"), text);
    const { TransformStream } = await load("without_bytes.mjs");
    const { readable } = new TransformStream();
    assert.throws(() => readable.getReader({ mode: "byob" }), /^TypeError: Cannot get a BYOB reader/);
    const Constructor = readable.constructor as typeof globalThis.ReadableStream;
    assert.equal(Object.getPrototypeOf(new Constructor({ type: "bytes" })), globalThis.ReadableStream.prototype);
    const mine = new RangeError("mine");
    const failing = () => {
      throw mine;
    };
    assert.throws(() => new Constructor({ type: "bytes", start: failing }), mine);
    assert.throws(() => new Constructor({ type: "bytes", autoAllocateChunkSize: 0 }), /autoAllocateChunkSize/);
    assert.throws(() => new Constructor({ type: "bytes" }, { size: () => 1 } as never), /size/);
    assert.throws(() => new Constructor({ type: "text" as "bytes" }), /must be "bytes" or undefined, not "text"/);
    const [both] = await bundle("ReadableStream, TransformStream", false);
    await writeFile(join(folder, "with_bytes.mjs"), both);
    const { ReadableStream, TransformStream: Second } = await load("with_bytes.mjs");
    const ours = new Second().readable.constructor as typeof globalThis.ReadableStream;
    assert.equal(ours, ReadableStream);
    assert.equal(new ours({ type: "bytes" }).getReader({ mode: "byob" }).constructor.name, "ReadableStreamBYOBReader");
    assert.ok(new ours({ type: "bytes" }) instanceof ReadableStream);
  });

  test("a browser without byte streams has those of this package, and its functions take them", () => {
    const script = `
      delete globalThis.ReadableStreamBYOBReader;
      delete globalThis.ReadableStreamBYOBRequest;
      delete globalThis.ReadableByteStreamController;
      const { ReadableStream, ReadableStreamBYOBReader } = await import(process.argv[1]);
      const make = () => new ReadableStream({
        type: "bytes",
        start: (controller) => (controller.enqueue(new Uint8Array([7])), controller.close()),
      });
      const stream = make();
      const reader = stream.getReader({ mode: "byob" });
      let told = [reader instanceof ReadableStreamBYOBReader, String(reader), stream.locked];
      try {
        new Response(stream);
      } catch ({ name }) {
        told.push(name);
      }
      told.push((await reader.read(new Uint8Array(4))).value.join());
      await reader.closed;
      reader.releaseLock();
      told.push(stream.locked, (await new Response(make()).bytes()).join());
      console.log(JSON.stringify(told));
    `;
    for (const path of ["browser/streams.js", "modules/lib/streams/mod.js"]) {
      const url = pathToFileURL(join(folder, path)).href;
      const told = JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", script, url]).toString());
      assert.deepEqual(told, [true, "[object ReadableStreamBYOBReader]", true, "TypeError", "7", false, "7"], path);
    }
  });

  /** Runs a script beside entries of codecs, which it gets by their paths; returns what it prints. */
  function printed(script: string, ...paths: string[]): string {
    const urls = paths.map((path) => pathToFileURL(join(folder, path)).href);
    return execFileSync(process.execPath, ["--input-type=module", "-e", script, ...urls]).toString();
  }

  test("a module that one entry is given serves the others, other copies, and pages whose global is no table or frozen", () => {
    const script = `
      const [file, first, ...others] = process.argv.slice(1);
      const module = await WebAssembly.compile(await (await import("node:fs/promises")).readFile(new URL(file)));
      WebAssembly.compile = () => Promise.reject(new WebAssembly.CompileError("forbidden"));
      (await import(first)).provide(module);
      for (const other of others) {
        console.log((await (await import(other)).compress(new Uint8Array(1000), { format: "gzip" })).length);
      }`;
    const paths = [
      "browser/wasm/gzip_encoder.wasm",
      "browser/gzip.js",
      "browser/codecs.js",
      "modules/lib/codecs/gzip.js",
    ];
    assert.equal(printed(script, ...paths), "28\n28\n");
    const strange = 'globalThis[Symbol.for("@millrace/streams.codecs")] = Object.freeze({ get: 1, set: 1 });';
    assert.equal(printed(strange + script, ...paths), "28\n28\n");
    assert.equal(printed(`Object.preventExtensions(globalThis);${script}`, ...paths.slice(0, 2), paths[1]), "28\n");
  });

  test("codecs load on a page whose global DecompressionStream is an entry's class", () => {
    const script = `
      for (const url of process.argv.slice(1)) {
        const { compress, decompress, DecompressionStream } = await import(url);
        globalThis.DecompressionStream = DecompressionStream;
        const options = url.endsWith("codecs.js") ? { format: "brotli" } : {};
        console.log((await decompress(await compress(new Uint8Array(1000), options), options)).length);
      }`;
    assert.equal(
      printed(script, "browser/zstd.js", "browser/codecs.js", "modules/lib/codecs/brotli.js"),
      "1000\n1000\n1000\n",
    );
  });

  test("no module for bundlers imports another one for nothing", () => {
    const modules = globSync("modules/**/*.js", { cwd: folder });
    const bare = modules.filter((path) => /import *["'`]/.test(readFileSync(join(folder, path), "utf8")));
    assert.deepEqual(bare, [], "none has side effects");
  });

  test("the licences of what is compiled into the codecs stand beside them", () => {
    const notices = readFileSync(join(folder, "browser/wasm/THIRD_PARTY_NOTICES.txt"), "utf8");
    for (const name of ["zstd", "brotli", "libdeflate", "zlib-rs", "Rust's standard library"]) {
      assert.ok(notices.includes(`\n${name}`));
    }
    assert.doesNotMatch(notices, /dlmalloc|hashbrown|gimli/); // of Rust's std, which the modules do without
  });

  test("pages load the streams without the rest, and codecs only when they are used", () => {
    const imports = (path: string): string[] => {
      const text = readFileSync(join(folder, "browser", path), "utf8");
      return [...text.matchAll(/(?:from|^import|;import) ?"([^"]+)"/g)].map(([, specifier]) => specifier);
    };
    assert.deepEqual(imports("streams.js"), ["./chunks/streams.js"]);
    assert.deepEqual(imports("chunks/streams.js"), []);
    assert.ok(brotliCompressSync(readFileSync(join(folder, "browser/chunks/streams.js"))).length < 17_100);
    assert.deepEqual(imports("chunks/codecs.js").sort(), ["./streams.js", "./streams_2.js"]);
    const options = readFileSync(join(folder, "browser/chunks/streams_2.js"), "utf8");
    assert.match(options, /true or false/);
    assert.doesNotMatch(options, /writev/, "only pages with batches need what the batches are made of");
    for (const [codec, family] of Object.entries({ brotli: "brotli", gzip: "deflate", zstd: "zstd" })) {
      const expected = [`./wasm/${family}_decoder.js`, `./wasm/${family}_encoder.js`];
      const loaded = imports(`${codec}.js`).filter((specifier) => specifier.startsWith("./"));
      assert.deepEqual(loaded.sort(), expected, "a service worker can load nothing later");
    }
  });
});
