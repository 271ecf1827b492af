import type { DigestAlgorithm } from "../../semantics/mod.ts";

/** An unfinished upload, as it is kept beside its data: all but the offset, which is the length of the data. */
export interface SessionRecord {
  /** The form of the record. */
  readonly version: 1;
  /** The protocol that the upload was created with. */
  readonly protocol: "tus" | "rufh";
  /** The method of the request that created it. */
  readonly method: string;
  /** The path of that request below the base path, decoded. */
  readonly path: string;
  /** The media type of the representation. */
  readonly contentType: string;
  /** The name that the file has at the sender. */
  readonly filename?: string;
  /** The metadata that the sender gives the file; of tus. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The name that the file will have; undefined of forms and of parts of an upload. */
  readonly name?: string;
  /** Whether the representation is a form. */
  readonly isForm: boolean;
  /** The fields of that request that tell how the representation is to be stored, by their names in lower case. */
  readonly fields: Readonly<Record<string, string>>;
  /** How many bytes the representation has; undefined while that is not known. */
  readonly length?: number;
  /** The value of `Upload-Concat`. */
  readonly concat?: string;
  /** The value of `Upload-Metadata`. */
  readonly metadataField?: string;
  /** Bytes that count while a checksum of those behind them has not been verified. */
  readonly verified?: number;
  /**
   * `open` while data is appended, `storing` once all of it is here, until it is stored and whoever wants to know was told.
   */
  readonly state: "open" | "storing" | "stored";
  /** How many bytes were stored; of any state but `open`. */
  readonly bytes?: number;
  /** Whether the file replaces another; of any state but `open`. */
  readonly isThere?: boolean;
  /** The files that were made of the data, to be given their names; of forms, and of data that was decoded. */
  readonly staged?: readonly StagedFile[];
  /** The text fields of a form. */
  readonly texts?: Readonly<Record<string, string | string[]>>;
  /** How many of the staged files `onComplete()` was told of. */
  readonly told?: number;
  /** Digests of the data in base64, as far as they were asked for; of any state but `open`. */
  readonly digests?: Readonly<Partial<Record<DigestAlgorithm, string>>>;
  /** The response to the upload, to be repeated when it was lost; of the state `stored`. */
  readonly answer?: StoredAnswer;
}

/** A file that was made of the data. */
export interface StagedFile {
  /** Its name in the stage. */
  readonly part: string;
  /** The name that it gets. */
  readonly name: string;
  readonly bytes: number;
  readonly digest?: string;
  readonly contentType: string;
  /** The name of the form's field. */
  readonly field?: string;
  readonly filename?: string;
  /** Whether it replaces another. */
  readonly isThere: boolean;
}

/** A response that is kept. */
export interface StoredAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Parses a record; undefined if it is none of ours. */
export function parseRecord(text: string): SessionRecord | undefined {
  try {
    const record = JSON.parse(text) as SessionRecord;
    const isOurs = record.version === 1 && typeof record.state === "string" && typeof record.fields === "object";
    return isOurs ? record : undefined;
  } catch {
    return undefined;
  }
}
