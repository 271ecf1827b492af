/** The WebAssembly module deflate_decoder in base64. */
export declare const wasm: string;
