/** The WebAssembly module zstd_decoder in base64. */
export declare const wasm: string;
