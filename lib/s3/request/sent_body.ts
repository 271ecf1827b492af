import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/** A body that can be sent again and again. */
export interface SentBody {
  /** How many bytes it has. */
  readonly length: number;
  /** Computes the SHA-256 of it, in hexadecimal digits. */
  sha256(): Promise<string>;
  /** Gives it from its beginning, in pieces that are good until the next one is asked for. */
  open(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Returns all of its bytes. */
  whole(): Promise<Uint8Array>;
}

/** A body that is in memory. */
export function bytesBody(bytes: Uint8Array): SentBody {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    length: bytes.length,
    sha256: () => Promise.resolve(sha256),
    open: () => [bytes],
    whole: () => Promise.resolve(bytes),
  };
}

/** The digest of no bytes. */
export const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** A digest in hexadecimal digits as base64. */
export function base64Of(hex: string): string {
  return Buffer.from(hex, "hex").toString("base64");
}
