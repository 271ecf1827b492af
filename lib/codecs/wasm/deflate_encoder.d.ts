/** The WebAssembly module deflate_encoder in base64. */
export declare const wasm: string;
