import { compressSync } from "../codecs/mod.ts";
import { nativeCrc32 } from "../runtime/mod.ts";

const HEADER_LENGTH = 10;
const TRAILER_LENGTH = 8;

/** Compresses whole bytes with gzip: the bytes of `compressSync()`, with the runtime's checksum if that takes less time. */
export function gzipWhole(bytes: Uint8Array, level: number): Uint8Array<ArrayBuffer> {
  const checksum = nativeCrc32(bytes);
  if (checksum === undefined) return compressSync(bytes, { format: "gzip", level });
  const deflated = compressSync(bytes, { format: "deflate-raw", level });
  const whole = new Uint8Array(HEADER_LENGTH + deflated.length + TRAILER_LENGTH);
  // RFC 1952, section 2.3: deflate, no time, how hard it was tried, and no operating system.
  whole.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, effort(level), 255]);
  whole.set(deflated, HEADER_LENGTH);
  const trailer = new DataView(whole.buffer, HEADER_LENGTH + deflated.length);
  trailer.setUint32(0, checksum, true);
  trailer.setUint32(4, bytes.length, true);
  return whole;
}

function effort(level: number): number {
  if (level < 2) return 4;
  return level >= 8 ? 2 : 0;
}
