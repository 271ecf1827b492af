import type { SessionRecord } from "./session_record.ts";

/** Keeps unfinished uploads where their files will be stored, so that they outlive the process. */
export interface SessionStorage {
  /** Creates a session without data, held by the caller. */
  create(id: string, record: SessionRecord, onWanted: () => void): Promise<SessionHold>;
  /**
   * Takes hold of a session: of several callers, in this process and others, one has it at a time. A process that has it
   * is asked to let go.
   *
   * @param onWanted Called when another process asks for the session, once at most.
   * @returns undefined if there is no such session.
   * @throws {SessionBusyError} if its holder lives and does not let go in time.
   */
  hold(id: string, onWanted: () => void): Promise<SessionHold | undefined>;
  /** Removes sessions that were not touched for `ms`; resolves to how many there were. */
  removeExpired(ms: number): Promise<number>;
}

/** A session that nobody else appends to, until it is released. */
export interface SessionHold {
  readonly id: string;
  readonly record: SessionRecord;
  /** How many bytes of the representation are kept. */
  readonly offset: number;
  /** When the session was changed last, in ms since 1970. */
  readonly touched: number;
  /** Replaces the record. */
  save(record: SessionRecord): Promise<void>;
  /** Appends bytes; when it is fulfilled, they outlive the process, and the memory of the pieces may be used again. */
  append(pieces: readonly Uint8Array[]): Promise<void>;
  /** Ends a series of appends: what was appended outlives a loss of power where that was asked for. */
  settle(): Promise<void>;
  /** Drops the bytes from `offset` on. */
  truncate(offset: number): Promise<void>;
  /** Reads the data, in pieces that are good until the next one is asked for. */
  read(): AsyncIterable<Uint8Array>;
  /** Appends the data of other sessions, which stay as they are. */
  concatenate(others: readonly SessionHold[]): Promise<void>;
  /**
   * Gives the data its final name, in place of a file that is there if `overwrite` says so. To be called in the state
   * `storing`; again after a kill, where it finds out what has been done.
   *
   * @returns the absolute path, if it is a file.
   */
  store(name: string, options: { readonly overwrite: boolean }): Promise<string | undefined>;
  /** Removes the session and what is left of its data; it is released too. */
  remove(): Promise<void>;
  /** Lets go of the session. */
  release(): Promise<void>;
}

/** A session that its holder, who lives, did not let go of in time. */
export class SessionBusyError extends Error {
  /** Makes the error. */
  constructor() {
    super("Another request writes to the upload, and does not end");
    this.name = "SessionBusyError";
  }
}
