import type { Family } from "./format.ts";

type Sources = Readonly<Record<Family, () => Promise<{ wasm: string }>>>;

/** The codecs of one direction: each is loaded and compiled once a thread. */
export class Codecs {
  readonly #sources: Sources;
  readonly #loading = new Map<Family, Promise<WebAssembly.Module>>();
  readonly #loaded = new Map<Family, WebAssembly.Module>();

  /** Takes a dynamic import for each codec, so that bundlers and browsers load only what is used. */
  constructor(sources: Sources) {
    this.#sources = sources;
  }

  load(family: Family): Promise<WebAssembly.Module> {
    let promise = this.#loading.get(family);
    if (!promise) {
      promise = this.#compile(family);
      this.#loading.set(family, promise);
      promise.catch(() => this.#loading.delete(family)); // so that a failed download can be tried again
    }
    return promise;
  }

  /** The codec if {@linkcode load} has it ready. */
  loaded(family: Family): WebAssembly.Module | undefined {
    return this.#loaded.get(family);
  }

  async #compile(family: Family): Promise<WebAssembly.Module> {
    const { wasm } = await this.#sources[family]();
    const module = await WebAssembly.compile(fromBase64(wasm)).catch((error) => {
      throw explained(error);
    });
    this.#loaded.set(family, module);
    return module;
  }
}

/** The codecs that write the formats; bundlers drop them where nothing uses them, as in pages that decompress. */
export const encoders: Codecs = /* @__PURE__ */ new Codecs({
  brotli: () => import("./wasm/brotli_encoder.js"),
  zstd: () => import("./wasm/zstd_encoder.js"),
  deflate: () => import("./wasm/deflate_encoder.js"),
});

/** The codecs that read the formats. */
export const decoders: Codecs = /* @__PURE__ */ new Codecs({
  brotli: () => import("./wasm/brotli_decoder.js"),
  zstd: () => import("./wasm/zstd_decoder.js"),
  deflate: () => import("./wasm/deflate_decoder.js"),
});

/** An error of WebAssembly in plain words, if what it says is that it may not run here. */
export function explained(cause: unknown): unknown {
  // The bytes are right, so it is the page or the host that forbids it.
  if (!(cause instanceof WebAssembly.CompileError)) return cause;
  const message = "codecs cannot run, since WebAssembly may not be compiled here: a page's Content-Security-Policy " +
    "has to allow 'wasm-unsafe-eval' in script-src";
  return new TypeError(message, { cause });
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
