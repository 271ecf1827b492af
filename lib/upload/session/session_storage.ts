import type { DigestAlgorithm } from "../../semantics/mod.ts";
import { Refusal } from "../body/upload_error.ts";
import type { Claim } from "../sink/contained_path.ts";

/** The folder of sessions in the one for uploads; no upload's name may begin with it. */
export const SESSIONS = ".millrace-uploads";
export const ID: RegExp = /^[0-9a-f]{32}$/;
/** The time in ms within which another request must release a session. */
export const HAND_OVER = 10_000;

const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** Returns the media type for a stored object: senders may use any text, but stores accept only field values. */
export function storableType(type: string): string {
  return [type, type.replace(/;.*$/s, "").trim()].find((each) => VALUE.test(each)) ?? "application/octet-stream";
}

/** The record of an unfinished upload, kept beside its data. The offset is not in it: it is the length of the data. */
export interface SessionRecord {
  readonly version: 1;
  readonly protocol: "tus" | "rufh";
  readonly method: string;
  /** The path of the request that created the upload, below the base path, decoded. */
  readonly path: string;
  readonly contentType: string;
  readonly filename?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The future name of the file; undefined for parts of an upload. */
  readonly name?: string;
  /** The fields of the creating request that affect how the representation is stored, by names in lower case. */
  readonly fields: Readonly<Record<string, string>>;
  readonly length?: number;
  readonly concat?: string;
  readonly metadataField?: string;
  /** The number of verified bytes while the checksum of later ones is pending; only on a disk. */
  readonly verified?: number;
  /** `open` while data is appended, `storing` once all of it is received, `stored` after `onComplete`. */
  readonly state: "open" | "storing" | "stored";
  readonly bytes?: number;
  /** The file that this one replaces, as it was when the state became `storing`. */
  readonly found?: { readonly mtimeMs: number; readonly etag?: string } | undefined;
  /** The identity of the file that the data becomes; set in all states except `open`, only on a disk. */
  readonly own?: string | undefined;
  /** Requested digests of the data in base64; set in all states except `open`. */
  readonly digests?: Readonly<Partial<Record<DigestAlgorithm, string>>>;
  /** The response to the upload, repeated if it was lost; set in the state `stored`. */
  readonly answer?: {
    readonly status: number;
    readonly fields: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

export function parseRecord(text: string): SessionRecord | undefined {
  try {
    const record = JSON.parse(text) as SessionRecord;
    const isOurs = record.version === 1 && typeof record.state === "string" && typeof record.fields === "object";
    return isOurs ? record : undefined;
  } catch {
    return undefined;
  }
}

/** The storage of unfinished uploads, beside their future files, so that they survive the process. */
export interface SessionStorage {
  create(id: string, record: SessionRecord, onHandOverRequested: () => void): Promise<OpenSession>;
  /** Acquires a session, and requests its release from another request. @throws {Refusal} `LOCKED` if that takes too long. */
  session(id: string, onHandOverRequested: () => void, options?: HoldOptions): Promise<OpenSession | undefined>;
  countOpen(): Promise<number>;
  /** Removes up to `count` unused sessions without data, the oldest first; resolves to the number removed. */
  removeEmpty?(count: number): Promise<number>;
  /** Removes sessions that were not touched for `ms`. */
  removeExpired(ms: number): Promise<void>;
}

export interface HoldOptions {
  /** Whether the session is acquired only for its removal, which needs no space on the disk. */
  readonly toRemove?: boolean;
}

export interface StoreOptions {
  readonly overwrite: boolean;
  readonly claim?: Claim | undefined;
}

/** A session acquired by one request, its only writer until the release. */
export interface OpenSession {
  readonly id: string;
  readonly record: SessionRecord;
  /** The number of kept bytes of the representation. */
  readonly offset: number;
  /** The time of the session's last change, in ms since 1970. */
  readonly touched: number;
  save(record: SessionRecord): Promise<void>;
  /** Appends bytes; once it fulfils, they survive the process, and the memory of the pieces may be reused. */
  append(pieces: readonly Uint8Array[]): Promise<void>;
  /** Ends a series of appends: with `flush`, the appended bytes then survive a power failure. */
  settle(): Promise<void>;
  /** Marks bytes appended from now on as unverified: a kill before {@linkcode vouch} drops them. */
  doubt(): Promise<void>;
  /** Drops the bytes that were appended since {@linkcode doubt}. */
  dropDoubted(): Promise<void>;
  /** Marks all bytes as verified. */
  vouch(): Promise<void>;
  /** Reads the data, in pieces that are valid until the next read. */
  read(): AsyncIterable<Uint8Array>;
  /** Drops the data once its files are stored; the record keeps its length. */
  dropData(): Promise<void>;
  /**
   * Gives the data its name, also repeatedly after a kill. Resolves to the absolute path, if it is a file.
   *
   * @throws {UploadError} `EXISTS` if an earlier call gave it the name, which no longer has it.
   */
  store(name: string, options: StoreOptions): Promise<string | undefined>;
  /** Removes the session and its data, and releases it. */
  remove(): Promise<void>;
  release(): Promise<void>;
}

const reasons = {
  BUSY: "Too many uploads are unfinished: try again later",
  LOCKED: "Another request writes to the upload, and does not end",
  SUPERSEDED: "A newer request continues the upload",
} as const;

/** Returns the refusal of a request whose session is missing or has ended. */
export function sessionRefusal(code: keyof typeof reasons): Refusal {
  return new Refusal(code, reasons[code], code === "SUPERSEDED" ? {} : { "Retry-After": code === "BUSY" ? "60" : "1" });
}
