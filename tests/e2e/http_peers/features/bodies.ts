import { createHash } from "node:crypto";

/** Returns the SHA-256 of bytes, in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Returns a stream of bytes in pieces of many sizes, so that they end nowhere in particular. */
export function pieces(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  let size = 1;
  return new ReadableStream({
    pull(controller) {
      if (at === bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + size));
      at = Math.min(bytes.length, at + size);
      size = (size * 3) % 200_003;
    },
  });
}
