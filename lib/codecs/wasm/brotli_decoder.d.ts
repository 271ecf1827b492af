/** The WebAssembly module brotli_decoder in base64. */
export declare const wasm: string;
