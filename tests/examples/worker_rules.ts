/**
 * Loads a Worker by the rules of workerd and has it compress and decompress: `.wasm` files are imported as compiled
 * modules, and nothing is compiled from bytes. A thread of `examples_isolated_test.ts`.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";

interface ThreadScope {
  compiled(path: string): WebAssembly.Module;
}

const { instantiate, Module } = WebAssembly;
(globalThis as unknown as ThreadScope).compiled = (path) => new Module(readFileSync(path));
const refuse = (): never => {
  throw new WebAssembly.CompileError("Wasm code generation disallowed by embedder");
};
WebAssembly.compile = () => Promise.try(refuse);
WebAssembly.instantiate =
  ((given: BufferSource | WebAssembly.Module, imports?: WebAssembly.Imports) =>
    given instanceof Module ? instantiate(given, imports) : Promise.try(refuse)) as typeof instantiate;
WebAssembly.Module = new Proxy(Module, { construct: refuse });

registerHooks({
  load(url, context, next) {
    if (!url.endsWith(".wasm")) return next(url, context);
    const source = `export default compiled(${JSON.stringify(fileURLToPath(url))});`;
    return { format: "module", source, shortCircuit: true };
  },
});

const text = "round and round ".repeat(5000);
const { default: worker } = await import(workerData as string);
const ask = (path: string, body: BodyInit): Response =>
  worker.fetch(new Request(`http://worker.example${path}`, { method: "POST", body, duplex: "half" } as RequestInit));
const compressed = await ask("/compress", text).bytes();
const restored = await ask("/decompress", compressed).text();
parentPort!.postMessage({
  ratio: text.length / compressed.length,
  isSame: restored === text,
  statuses: [ask("/", "").status, worker.fetch(new Request("http://worker.example/")).status],
});
