import type { Family } from "./format.ts";
import type { Direction } from "./options.ts";

type Name = `${Family}_${"encoder" | "decoder"}`;

/** One dynamic import each, so that bundlers and browsers load only what is used: decoders without encoders. */
const sources: Readonly<Record<Name, () => Promise<{ wasm: string }>>> = {
  brotli_encoder: () => import("./wasm/brotli_encoder.js"),
  brotli_decoder: () => import("./wasm/brotli_decoder.js"),
  zstd_encoder: () => import("./wasm/zstd_encoder.js"),
  zstd_decoder: () => import("./wasm/zstd_decoder.js"),
  deflate_encoder: () => import("./wasm/deflate_encoder.js"),
  deflate_decoder: () => import("./wasm/deflate_decoder.js"),
};

const loading = new Map<Name, Promise<WebAssembly.Module>>();
const loaded = new Map<Name, WebAssembly.Module>();

function nameOf(family: Family, direction: Direction): Name {
  return `${family}_${direction === "compress" ? "encoder" : "decoder"}`;
}

/** Loads and compiles a codec's module, once a thread. */
export function loadModule(family: Family, direction: Direction): Promise<WebAssembly.Module> {
  const name = nameOf(family, direction);
  let promise = loading.get(name);
  if (!promise) {
    promise = compileModule(name);
    loading.set(name, promise);
    promise.catch(() => loading.delete(name)); // so that a failed download can be tried again
  }
  return promise;
}

/** The module if {@linkcode loadModule} has it ready. */
export function loadedModule(family: Family, direction: Direction): WebAssembly.Module | undefined {
  return loaded.get(nameOf(family, direction));
}

async function compileModule(name: Name): Promise<WebAssembly.Module> {
  const { wasm } = await sources[name]();
  const module = await WebAssembly.compile(fromBase64(wasm));
  loaded.set(name, module);
  return module;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // 5 ms less for the largest module, where the engine has it.
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
