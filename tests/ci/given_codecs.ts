/**
 * Compresses and decompresses by the entries of one codec in a folder of what is built, under the rules of workerd: nothing
 * is compiled from bytes, and modules are given. Prints the outcome. Run by `server_build_test.ts` on each runtime.
 */
import { readFileSync } from "node:fs";
import type * as Gzip from "../../lib/codecs/gzip.ts";

const [folder] = (globalThis as { Deno?: { args: string[] } }).Deno?.args ?? globalThis.process.argv.slice(2);
const names = ["gzip", "brotli", "zstd"].flatMap((codec) => [`${codec}_encoder`, `${codec}_decoder`]);
const given = names.map((name) => {
  return new WebAssembly.Module(readFileSync(new URL(`browser/wasm/${name}.wasm`, folder)) as BufferSource);
});

const refuse = (): never => {
  throw new WebAssembly.CompileError("Wasm code generation disallowed by embedder");
};
const { Module } = WebAssembly;
WebAssembly.compile = () => Promise.try(refuse);
WebAssembly.instantiate = () => Promise.try(refuse);
WebAssembly.Module = new Proxy(Module, { construct: refuse });

const load = (codec: string): Promise<typeof Gzip> => import(new URL(`lib/codecs/${codec}.js`, folder).href);
const text = "round and round ".repeat(500);
for (const codec of ["gzip", "brotli", "zstd"]) {
  const { compress, CompressionStream, decompress, DecompressionStream, provide } = await load(codec);
  const wayOut = new RegExp(
    `${codec}_encoder\\.wasm and give it to provide\\(\\) of @millrace/streams/codecs/${codec}$`,
  );
  const error = await compress(new Uint8Array(1)).then(String, String);
  for (const module of given.filter((_, i) => names[i].startsWith(codec))) provide(module);
  const whole = new TextDecoder().decode(await decompress(await compress(new TextEncoder().encode(text))));
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream()).pipeThrough(new DecompressionStream());
  console.log(codec, wayOut.test(error) || error, whole === text, await new Response(stream).text() === text);
}
