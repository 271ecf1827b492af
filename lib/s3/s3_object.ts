/**
 * The facts about an object.
 *
 * @example The size of an object
 * ```ts
 * import type { S3Object } from "@millrace/streams/s3";
 *
 * const told = ({ key, size }: S3Object): string => `${key}: ${size} bytes`;
 * console.log(told({ key: "a.mp4", size: 12, etag: '"9b2c…"', lastModified: new Date() })); // a.mp4: 12 bytes
 * ```
 */
export interface S3Object {
  /** Its name in the bucket. */
  readonly key: string;
  /** How many bytes it has. */
  readonly size: number;
  /** Its entity tag, in quotes. */
  readonly etag: string;
  /** When it was stored. */
  readonly lastModified: Date;
  /** Its media type, where the store tells it: not in listings. */
  readonly contentType?: string;
  /** The SHA-256 of it in base64, or of the SHA-256 of its parts, with `-` and their number; where the store has it. */
  readonly sha256?: string;
  /** The `metadata` that it was stored with; not in listings. */
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * The result of storing an object.
 *
 * @example The entity tag of what was stored
 * ```ts
 * import type { S3Stored } from "@millrace/streams/s3";
 *
 * const stored: S3Stored = { key: "a.mp4", size: 12, etag: '"9b2c…"' };
 * console.log(stored.etag); // "9b2c…"
 * ```
 */
export interface S3Stored {
  /** Its name in the bucket. */
  readonly key: string;
  /** How many bytes it has. */
  readonly size: number;
  /** Its entity tag, in quotes. */
  readonly etag: string;
}
