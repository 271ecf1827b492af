import { createHash } from "node:crypto";

/** Bytes that a client has, too. */
export class Dictionary {
  readonly bytes: Uint8Array;
  /** The SHA-256 in base64, as `Available-Dictionary` has it. */
  readonly hash: string;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.hash = createHash("sha256").update(bytes).digest("base64");
  }
}
