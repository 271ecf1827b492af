/** The WebAssembly module brotli_encoder in base64. */
export declare const wasm: string;
