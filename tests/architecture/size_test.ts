import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";

const root = new URL("../../", import.meta.url);

/** The imports of a page that uses all kinds of streams; their size is measured after brotli at its best level. */
const STREAMS = ["ReadableStream", "WritableStream", "TransformStream", "pipeTo", "pipeThrough"];
/**
 * The limit of the streams' code, in bytes. About 150 are for methods that take the runtime's own streams and for
 * browsers that have no byte streams, and 300 for errors with the runtimes' codes and a tee whose branches both end,
 * whatever fails one of them. 100 are for buffers that are neither transferred nor kept longer than the standard's
 * readers can tell. 240 are for what a native producer sees of this package's sinks, and they of it: an abort during a
 * write above all. 60 are for what a new writable stream makes only once it is used. 75 are for what a native reader
 * leaves that goes while it reads, and 85 for what a native BYOB reader leaves of a chunk. 15 are for a question whose
 * order makes batches faster, and the ends of transforms that the runtime need not look at. 230 are for what the
 * browser sees of a stream that a pipe, an iterator or a reader of this package has locked or read. 180 are for globals
 * that a program or another copy of the package has put in the places of the browser's. 120 are for what has servers
 * call a transformer in the context of a write that waited. 190 are for pages of zone.js, and of polyfills. 65 are for
 * a transform stream that is transferred only while its ends are free, and 65 for options that a pipe does not
 * have. 140 are for the counts of a pipe, 20 for its end by a signal, 25 for steps of an iterator that wait for
 * one more microtask, and 5 for the context of writes that a writer left to a transform before a pipe. 125 are for pipes
 * to native streams that are closing, and for conversions of these.
 */
const STREAMS_BUDGET = 15_835;

/**
 * The limit of the code of a page that decompresses, before it has met compressed data; 180 are for turns of the page,
 * 90 for a signal that ends it, and 30 for decoders that are deflated, and smaller by much more; 135 for a table of codecs
 * that entries share.
 */
const DECOMPRESS_BUDGET = 4_595;

/** Entries of one codec in one file, with the codec's text and the code, compressed by gzip. */
const CODEC_BUDGETS = {
  'export { decompress } from "@millrace/streams/codecs/gzip"': 15_450,
  'export { compress } from "@millrace/streams/codecs/gzip"': 34_500,
  'export * from "@millrace/streams/codecs/gzip"': 44_900,
  'export { decompress, DecompressionStream } from "@millrace/streams/codecs/zstd"': 33_820,
};

interface Output {
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>;
}

/** A page's scripts: those loaded at first, and those loaded on demand. */
class Page {
  readonly #outputs: Readonly<Record<string, Output>>;
  readonly #texts: ReadonlyMap<string, Uint8Array>;

  constructor(outputs: Readonly<Record<string, Output>>, texts: ReadonlyMap<string, Uint8Array>) {
    this.#outputs = outputs;
    this.#texts = texts;
  }

  get initial(): string[] {
    const entry = Object.keys(this.#outputs).find((path) => this.#outputs[path].entryPoint === "page.js")!;
    return this.loadedWith(entry);
  }

  /** Returns a script and all that it imports at once. */
  loadedWith(path: string): string[] {
    const loaded = new Set([path]);
    for (const each of loaded) {
      const { imports } = this.#outputs[each];
      for (const { path, kind } of imports) if (kind === "import-statement") loaded.add(path);
    }
    return [...loaded];
  }

  /** The scripts that are loaded on demand. */
  get later(): string[] {
    const dynamic = Object.values(this.#outputs).flatMap(({ imports }) => imports)
      .filter(({ kind }) => kind === "dynamic-import");
    return [...new Set(dynamic.map(({ path }) => path))];
  }

  sourcesOf(paths: readonly string[]): string[] {
    const inputs = paths.flatMap((path) => Object.entries(this.#outputs[path].inputs));
    return inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([source]) => source);
  }

  compressedSize(paths: readonly string[], compress: (bytes: Uint8Array) => Uint8Array = brotliCompressSync): number {
    return paths.reduce((sum, path) => sum + compress(this.#texts.get(path)!).length, 0);
  }
}

describe(
  "what a page loads",
  { skip: "Deno" in globalThis || "Bun" in globalThis ? "bundling is the same from every runtime" : false },
  () => {
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "millrace-size-"));
      const { buildBundlerModules } = await import("../../.ci/browser_build.ts");
      const { writeCodecs } = await import("../../.ci/wasm_files.ts");
      const installed = join(folder, "node_modules/@millrace/streams");
      mkdirSync(installed, { recursive: true });
      cpSync(new URL("package.json", root), join(installed, "package.json"));
      const codecs = join(installed, "dist/browser/wasm");
      mkdirSync(codecs, { recursive: true });
      await writeCodecs(codecs);
      await buildBundlerModules(join(installed, "dist/modules"), codecs);
    });
    after(() => rmSync(folder, { recursive: true, force: true }));

    async function bundle(page: string, splitting = true): Promise<Page> {
      const { build } = await import("esbuild");
      const { metafile, outputFiles } = await build({
        absWorkingDir: folder,
        stdin: { contents: page, resolveDir: folder, sourcefile: "page.js" },
        bundle: true,
        splitting,
        minify: true,
        format: "esm",
        platform: "browser",
        target: "es2022",
        outdir: folder,
        write: false,
        metafile: true,
      });
      const names = Object.keys(metafile.outputs);
      const texts = outputFiles.map(({ path, contents }) => [names.find((name) => path.endsWith(name))!, contents]);
      return new Page(metafile.outputs, new Map(texts as [string, Uint8Array][]));
    }

    it(`streams, with byte streams and pipes of either kind, are at most ${STREAMS_BUDGET} bytes`, async () => {
      const page = await bundle(`export { ${STREAMS.join(", ")} } from "@millrace/streams/streams";`);
      const size = page.compressedSize(page.initial);
      console.log(`streams: ${size} bytes by brotli`);
      assert.ok(size <= STREAMS_BUDGET, `${size} bytes: make it smaller, or say why it must be larger`);
    });

    it("streams bring neither what only servers ask for nor what only batches use", async () => {
      const page = await bundle(`export { ${STREAMS.join(", ")} } from "@millrace/streams/streams";`);
      const unwanted =
        /node_interop|transfer_mark|lazy_side_check|chunk_array_queue|pull_run|batches|strategies|bridge|lib\/(?!streams)/;
      assert.deepEqual(page.sourcesOf(page.initial).filter((source) => unwanted.test(source)), []);
    });

    it("what takes the place of server modules has all that is imported of them", async () => {
      const page = await bundle('export * from "@millrace/streams";'); // otherwise no export matches
      assert.ok(page.sourcesOf(page.initial).some((source) => source.endsWith("host.browser.js")));
    });

    it("decompress() loads a format's decoder when it is used, and no encoder", async () => {
      const page = await bundle(`
        import { decompress } from "@millrace/streams/codecs";
        console.log(await decompress(new Uint8Array(await (await fetch("page.zst")).arrayBuffer()), { format: "zstd" }));
      `);
      const size = page.compressedSize(page.initial);
      console.log(`decompress: ${size} bytes by brotli, before a decoder is loaded`);
      assert.deepEqual(page.sourcesOf(page.initial).filter((source) => source.includes("wasm/")), []);
      assert.ok(size <= DECOMPRESS_BUDGET, `${size} bytes: make it smaller, or say why it must be larger`);
      const decoders = page.later.filter((path) =>
        page.sourcesOf([path]).some((source) => /zstd_decoder/.test(source))
      );
      assert.equal(decoders.length, 1);
      const withDecoder = page.sourcesOf(page.loadedWith(decoders[0]));
      assert.deepEqual(withDecoder.filter((source) => /encoder/.test(source)), []);
      assert.deepEqual(page.sourcesOf([...page.initial, ...page.later]).filter((source) => /encoder/.test(source)), []);
      console.log(`zstd's decoder: ${page.compressedSize(decoders)} bytes by brotli`);
    });

    for (const [code, budget] of Object.entries(CODEC_BUDGETS)) {
      it(`${code}: one file of at most ${budget} bytes, with what it asks for and no streams`, async () => {
        const page = await bundle(code, false);
        assert.equal(page.later.length, 0);
        const [codec] = /(?<=codecs\/)\w+/.exec(code)!;
        const directions = code.includes("*")
          ? ["decoder", "encoder"]
          : [code.includes("decompress") ? "decoder" : "encoder"];
        const expected = directions.map((direction) => `${codec.replace("gzip", "deflate")}_${direction}.js`);
        const sources = page.sourcesOf(page.initial);
        assert.deepEqual(sources.flatMap((source) => source.split("/wasm/")[1] ?? []).sort(), expected);
        assert.deepEqual(
          sources.filter((source) => /lib\/streams\/(?!language|shortcuts\/end_of_turn)/.test(source)),
          [],
        );
        const size = page.compressedSize(page.initial, gzipSync);
        console.log(`${code}: ${size} bytes by gzip`);
        assert.ok(size <= budget, `${size} bytes: make it smaller, or say why it must be larger`);
      });
    }

    it("streams of the main entry come without files of codecs by Rolldown, of which Vite is made", async () => {
      const input = join(folder, "page.js");
      writeFileSync(input, 'import { TransformStream } from "@millrace/streams"; console.log(TransformStream);');
      const { rolldown } = await import("rolldown");
      const { output } = await (await rolldown({ input, platform: "browser" })).generate();
      assert.equal(output.length, 1, output.map(({ fileName }) => fileName).join());
    });
  },
);
