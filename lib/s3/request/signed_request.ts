import { createHash } from "node:crypto";

/** Characters that encodeURIComponent leaves unchanged, but that are encoded in signatures. */
const LEFT = /[!'()*]/g;
/** A slash beside `.` or `..`, which URLs would resolve, but which are ordinary names in keys. */
const SLASH_AT_DOTS = /\/(?=\.{1,2}(?:\/|$))|(?<=(?:^|\/)\.{1,2})\//g;
const MAX_KEY_BYTES = 1024;

/** Returns the path of an object's URL below its bucket's; slashes beside `.` or `..` are encoded, so that no URL parser resolves these. */
export function objectPath(key: string): string {
  if (typeof key !== "string") throw new TypeError(`a key must be a string, not ${String(key)}`);
  const fault = faultOf(key);
  if (fault !== undefined) throw new RangeError(`${JSON.stringify(key)} can be no key: ${fault}`);
  const parts = key.replace(SLASH_AT_DOTS, "\0").split("/");
  return `/${parts.map((part) => encoded(part).replaceAll("%00", "%2F")).join("/")}`;
}

function faultOf(key: string): string | undefined {
  if (key === "") return "it is empty";
  if (key === "." || key === "..") return "URLs cannot name it";
  if (key.includes("\0")) return "it has a zero byte";
  if (!key.isWellFormed()) return "it is no Unicode text";
  if (new TextEncoder().encode(key).length > MAX_KEY_BYTES) return `it has more than ${MAX_KEY_BYTES} bytes`;
  return undefined;
}

/** Encodes a text as signatures require (RFC 3986, section 2.3). */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(LEFT, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

export interface SentBody {
  readonly length: number;
  sha256(): Promise<string>;
  /** Returns the body from its beginning, in pieces that are valid until the next one is read; `onPiece`: called for each. */
  open(onPiece?: () => void): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  whole(): Promise<Uint8Array>;
}

export function bytesBody(bytes: Uint8Array): SentBody {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return {
    length: bytes.length,
    sha256: () => Promise.resolve(sha256),
    open: () => [bytes],
    whole: () => Promise.resolve(bytes),
  };
}

export const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export const SHA256_FIELD = "x-amz-checksum-sha256";
export const CRC32_FIELD = "x-amz-checksum-crc32";
