import type { BodyDestination } from "../sink/open_sink.ts";
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
  /** Counts the sessions that hold data. */
  countOpen(): Promise<number>;
  /** Removes sessions that were not touched for `ms`; resolves to how many there were. */
  removeExpired(ms: number): Promise<number>;
}

/** How {@linkcode SessionHold.store} gives a name. */
export interface StoreOptions {
  /** Whether a file that has the name is replaced. */
  readonly overwrite: boolean;
  /** The file of the stage. Default: the data. */
  readonly part?: string;
}

/** A file that has its name. */
export interface Stored {
  /** The absolute path, if it is a file. */
  readonly path?: string;
  /** Takes it away again, unless it replaced another or another has its name by now. Never rejects. */
  takeBack(): Promise<void>;
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
  /** Returns the destination of a file, called `part.0` and so on, that {@linkcode store} gives its name. */
  staged(part: string, contentType: string): BodyDestination;
  /** Removes what is left of such files of an attempt that was killed. */
  clearStage(): Promise<void>;
  /** Drops the data, now that what was made of it is stored: the record tells how much it was. */
  dropData(): Promise<void>;
  /**
   * Gives the data, or a file that was made of it, its final name. To be called in the state `storing`; again after a
   * kill, where it finds out what has been done.
   */
  store(name: string, options: StoreOptions): Promise<Stored>;
  /** Removes the session and what is left of its data; it is released too. */
  remove(): Promise<void>;
  /** Releases the session. */
  release(): Promise<void>;
}

/** More uploads are unfinished than there may be. */
export class TooManySessionsError extends Error {
  /** Creates the error. */
  constructor() {
    super("Too many uploads are unfinished: try again later");
    this.name = "TooManySessionsError";
  }
}

/** A session that its holder, who lives, did not let go of in time. */
export class SessionBusyError extends Error {
  /** Creates the error. */
  constructor() {
    super("Another request writes to the upload, and does not end");
    this.name = "SessionBusyError";
  }
}
