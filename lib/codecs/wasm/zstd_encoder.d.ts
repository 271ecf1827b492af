/** The WebAssembly module zstd_encoder in base64. */
export declare const wasm: string;
