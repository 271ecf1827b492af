import { Buffer } from "node:buffer";
import { base64Of, type SentBody } from "./sent_body.ts";

/** The kind of a checksum, as the protocol calls it. */
export type ChecksumKind = "CRC32" | "SHA256";

/** A checksum as requests and answers tell it. */
export interface Checksum {
  readonly kind: ChecksumKind;
  readonly base64: string;
}

/** A body with a checksum. */
export interface CheckedBody extends SentBody {
  /** Computes its checksum. */
  checksum(): Promise<Checksum>;
}

/** A SHA-256, of its hexadecimal digits. */
export function sha256Checksum(hex: string): Checksum {
  return { kind: "SHA256", base64: base64Of(hex) };
}

/** A CRC-32. */
export function crc32Checksum(crc: number): Checksum {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return { kind: "CRC32", base64: bytes.toString("base64") };
}

/** The field of a request that tells a checksum. */
export function checksumField({ kind, base64 }: Checksum): Record<string, string> {
  return { [checksumFieldName(kind)]: base64 };
}

/** The name of the field that tells a checksum. */
export function checksumFieldName(kind: ChecksumKind): string {
  return `x-amz-checksum-${kind.toLowerCase()}`;
}
