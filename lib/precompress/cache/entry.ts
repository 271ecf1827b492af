import { Buffer } from "node:buffer";
import { encoderVersion } from "../../codecs/internal.ts";
import { LARGE_FILE, sha256 } from "../content.ts";
import type { Job } from "../job.ts";
import { codecOf } from "../formats.ts";

/** The version of the compression method, which changes with its output, so that earlier entries are not found. */
const FORMAT_VERSION = 1;

/** The number of bytes after the variant's in an entry: its key, size and hash. */
export const TRAILER_SIZE = 88;
const MAGIC = "millrace-cache-1";

export interface Trailer {
  readonly key: string;
  /** The SHA-256 of the variant's bytes, in hexadecimal. */
  readonly sha256: string;
  /** The size of the variant in bytes. */
  readonly size: number;
}

/** Returns the key of the variant that `job` makes: a hash, in hexadecimal, of all that its bytes depend on. */
export function keyOf({ format, level, dictionarySha256, sha256: content, size }: Job): string {
  const codec = codecOf(format);
  const parts = {
    recipe: FORMAT_VERSION,
    content,
    size,
    format: codec,
    level,
    dictionary: dictionarySha256 ?? null,
    streamed: size > LARGE_FILE,
    encoder: encoderVersion(codec),
  };
  return sha256(new TextEncoder().encode(JSON.stringify(parts)));
}

/** Returns the maximum bytes of a file's variant: no codec writes more, so a larger entry is not read. */
export function largestVariant({ size }: Pick<Job, "size">): number {
  return size + Math.ceil(size / 64) + 1024;
}

export function trailerBytes({ key, sha256, size }: Trailer): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.alloc(TRAILER_SIZE);
  bytes.write(MAGIC, 0, "latin1");
  bytes.write(key, 16, "hex");
  bytes.write(sha256, 48, "hex");
  bytes.writeBigUInt64BE(BigInt(size), 80);
  return bytes;
}

export function trailerIn(bytes: Uint8Array): Trailer | undefined {
  if (bytes.length !== TRAILER_SIZE) return undefined;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.toString("latin1", 0, 16) !== MAGIC) return undefined;
  return {
    key: buffer.toString("hex", 16, 48),
    sha256: buffer.toString("hex", 48, 80),
    size: Number(buffer.readBigUInt64BE(80)),
  };
}
