import { CompressionStream, DecompressionStream, provide } from "@millrace/streams/codecs/zstd";
import decoder from "@millrace/streams/codecs/zstd_decoder.wasm";
import encoder from "@millrace/streams/codecs/zstd_encoder.wasm";

// A Worker compiles no WebAssembly itself: it imports modules, and hands them over.
provide(decoder);
provide(encoder);

export default {
  /** `POST /compress` and `POST /decompress` answer the body in zstd, and out of it. */
  fetch(request: Request): Response {
    const { pathname } = new URL(request.url);
    if (request.body === null) return new Response("send a body\n", { status: 400 });
    if (pathname === "/compress") {
      return new Response(request.body.pipeThrough(new CompressionStream("zstd", { level: 9 })));
    }
    if (pathname === "/decompress") return new Response(request.body.pipeThrough(new DecompressionStream("zstd")));
    return new Response("/compress or /decompress\n", { status: 404 });
  },
};
