import type { DigestAlgorithm } from "../../semantics/mod.ts";
import { Refusal } from "../body/upload_error.ts";
import type { Claim } from "../sink/contained_path.ts";

/** The folder of sessions in the one for uploads: no upload may have a name that begins so. */
export const SESSIONS = ".millrace-uploads";

const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** The media type that an object can have: senders may give files any text, of which a store takes what fields can be. */
export function storableType(type: string): string {
  return [type, type.replace(/;.*$/s, "").trim()].find((each) => VALUE.test(each)) ?? "application/octet-stream";
}

/** An unfinished upload, as it is kept beside its data: all but the offset, which is the length of the data. */
export interface SessionRecord {
  readonly version: 1;
  readonly protocol: "tus" | "rufh";
  readonly method: string;
  /** The path of that request below the base path, decoded. */
  readonly path: string;
  readonly contentType: string;
  /** The name that the file has at the sender. */
  readonly filename?: string;
  /** The metadata that the sender gives the file; of tus. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** The name that the file will have; undefined of parts of an upload. */
  readonly name?: string;
  /** The fields of that request that tell how the representation is to be stored, by their names in lower case. */
  readonly fields: Readonly<Record<string, string>>;
  readonly length?: number;
  readonly concat?: string;
  readonly metadataField?: string;
  /** Bytes that count while a checksum of those behind them has not been verified; on a disk. */
  readonly verified?: number;
  /**
   * `open` while data is appended, `storing` once all of it is here, until it is stored and `onComplete` has ended.
   */
  readonly state: "open" | "storing" | "stored";
  readonly bytes?: number;
  /** Whether the file replaces another; of any state but `open`. */
  readonly isThere?: boolean;
  /** Requested digests of the data in base64; of any state but `open`. */
  readonly digests?: Readonly<Partial<Record<DigestAlgorithm, string>>>;
  /** The response to the upload, to be repeated when it was lost; of the state `stored`. */
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

/** Keeps unfinished uploads where their files will be stored, so that they outlive the process. */
export interface SessionStorage {
  create(id: string, record: SessionRecord, onWanted: () => void): Promise<SessionHold>;
  /**
   * Takes hold of a session: of several callers, in this process and others, one has it at a time. A process that has
   * it is asked to release it.
   *
   * @param onWanted Called when another process asks for the session, once at most.
   * @returns undefined if there is no such session.
   * @throws {Refusal} `LOCKED` if its holder lives and does not release it in time.
   */
  hold(id: string, onWanted: () => void, options?: HoldOptions): Promise<SessionHold | undefined>;
  countOpen(): Promise<number>;
  /** Removes up to `count` unused sessions without data, the oldest first; resolves to how many there were. */
  removeEmpty?(count: number): Promise<number>;
  /** Removes sessions that were not touched for `ms`; resolves to how many there were. */
  removeExpired(ms: number): Promise<number>;
}

export interface HoldOptions {
  /** Whether the session is held only to be removed, which needs no room on the disk. */
  readonly toRemove?: boolean;
}

/** The options by which {@linkcode SessionHold.store} gives a name. */
export interface StoreOptions {
  readonly overwrite: boolean;
  readonly claim?: Claim | undefined;
}

/** A session of which this call is the only writer, until it is released. */
export interface SessionHold {
  readonly id: string;
  readonly record: SessionRecord;
  /** The number of bytes of the representation that are kept. */
  readonly offset: number;
  /** The time of the session's last change, in ms since 1970. */
  readonly touched: number;
  save(record: SessionRecord): Promise<void>;
  /** Appends bytes; when it is fulfilled, they outlive the process, and the memory of the pieces may be used again. */
  append(pieces: readonly Uint8Array[]): Promise<void>;
  /** Ends a series of appends: with `flush`, what was appended outlives a loss of power. */
  settle(): Promise<void>;
  /** Lets what is appended from now on count only once {@linkcode vouch} is called, or nothing of it after a kill. */
  doubt(): Promise<void>;
  /** Lets what was appended, and not dropped since, count. */
  vouch(): Promise<void>;
  truncate(offset: number): Promise<void>;
  /** Reads the data, in pieces that are good until the next read. */
  read(): AsyncIterable<Uint8Array>;
  /** Drops the data, now that what was made of it is stored: the record tells how much it was. */
  dropData(): Promise<void>;
  /**
   * Gives the data its final name. To be called in the state `storing`; again after a kill, where it finds out what has
   * been done. Resolves to the absolute path, if it is a file.
   */
  store(name: string, options: StoreOptions): Promise<string | undefined>;
  /** Removes the session and what is left of its data; it is released too. */
  remove(): Promise<void>;
  release(): Promise<void>;
}

const reasons = {
  BUSY: "Too many uploads are unfinished: try again later",
  LOCKED: "Another request writes to the upload, and does not end",
  SUPERSEDED: "A newer request continues the upload",
} as const;

/** The refusal of a request that has no session, or has one no more. */
export function sessionRefusal(code: keyof typeof reasons): Refusal {
  return new Refusal(code, reasons[code], code === "SUPERSEDED" ? {} : { "Retry-After": code === "BUSY" ? "60" : "1" });
}
