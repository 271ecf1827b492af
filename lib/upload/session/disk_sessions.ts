import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeDirectorySync, ProcessLock, type ProcessLockOptions } from "../../files/internal.ts";
import { atEndOfTurn } from "../../streams/internal.ts";
import { Refusal, UploadError } from "../body/upload_error.ts";
import { storageFailure } from "../sink/file_sink.ts";
import {
  contentTouchedAt,
  DATA,
  type DiskOptions,
  DiskSession,
  entriesIn,
  folderOf,
  RECORD,
  recordIn,
  removeSession,
  statusOf,
  touchedAt,
  WRITABLE,
} from "./disk_session.ts";
import {
  HAND_OVER,
  type HoldOptions,
  ID,
  type OpenSession,
  type SessionRecord,
  sessionRefusal,
  SESSIONS,
  type SessionStorage,
} from "./session_storage.ts";

/** The time in ms within which a session must get data while others need its place. */
const FIRST_DATA = 1000;
/** The number of sessions that are checked in one turn of the event loop. */
const AT_ONCE = 100;

/** The sessions in a folder below the one for uploads, so that data becomes a file by a rename. */
export class DiskSessions implements SessionStorage {
  readonly #directory: string;
  readonly #options: DiskOptions;

  constructor(directory: string, options: DiskOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  async create(id: string, record: SessionRecord, onHandOverRequested: () => void): Promise<OpenSession> {
    const folder = folderOf(this.#directory, id);
    const lock = this.#lockOf(id, { waitFor: HAND_OVER, onHandOverRequested });
    try {
      makeDirectorySync(dirname(folder));
      mkdirSync(folder);
      await lock.take();
      const session = new DiskSession(id, this.#directory, this.#options, lock, record);
      await session.save(record);
      const { mode } = this.#options;
      writeFileSync(join(folder, DATA), "", { flag: "a", mode: mode === undefined ? mode : mode | WRITABLE });
      return session;
    } catch (error) {
      lock.release();
      try {
        removeSession(folder); // no request asks for the session: its rest expires
      } catch {
        // The original error is thrown instead.
      }
      if (error instanceof UploadError) throw error;
      throw storageFailure("create", folder, "the upload", error);
    }
  }

  async session(
    id: string,
    onHandOverRequested: () => void,
    { toRemove = false }: HoldOptions = {},
  ): Promise<OpenSession | undefined> {
    const folder = folderOf(this.#directory, id);
    const lock = this.#lockOf(id, { waitFor: HAND_OVER, onHandOverRequested, mayLackFile: toRemove });
    try {
      await lock.take();
      const record = recordIn(folder);
      if (record) return new DiskSession(id, this.#directory, this.#options, lock, record);
    } catch (error) {
      lock.release();
      if (error instanceof Refusal) throw error;
      if ((error as { code?: unknown }).code === "ENOENT") return undefined;
      throw storageFailure("read", folder, "the upload", error);
    }
    lock.release(); // the server was killed before the record existed: no sender knows the session
    return undefined;
  }

  async countOpen(): Promise<number> {
    let open = 0;
    for await (const id of this.#ids()) if (statusOf(join(folderOf(this.#directory, id), DATA)) !== undefined) open++;
    return open;
  }

  async removeExpired(ms: number): Promise<void> {
    // Several in parallel, since checking the locks of another container takes time.
    const expiring: Promise<boolean>[] = [];
    for await (const id of this.#ids()) {
      const folder = folderOf(this.#directory, id);
      // Without a record, its removal was cut off, or its creation, which takes a moment.
      const age = statusOf(join(folder, RECORD)) ? ms : FIRST_DATA;
      if (Date.now() - touchedAt(folder) < age) continue;
      if (expiring.push(this.#expire(id, age)) === AT_ONCE) await Promise.all(expiring.splice(0));
    }
    await Promise.all(expiring);
  }

  async removeEmpty(count: number): Promise<number> {
    const empty: { readonly id: string; readonly touched: number }[] = [];
    for await (const id of this.#ids()) {
      const status = statusOf(join(folderOf(this.#directory, id), DATA));
      if (status?.size === 0) empty.push({ id, touched: status.mtimeMs });
    }
    let removed = 0;
    for (const { id } of empty.sort((a, b) => a.touched - b.touched)) {
      if (removed < count && await this.#expire(id, FIRST_DATA, { ifEmpty: true })) removed++;
    }
    return removed;
  }

  /** Removes an expired session that no request has; returns whether it did. */
  async #expire(id: string, ms: number, { ifEmpty = false } = {}): Promise<boolean> {
    const folder = folderOf(this.#directory, id);
    const touched = touchedAt(folder);
    const lock = this.#lockOf(id, { mayLackFile: true });
    try {
      await lock.take();
      // A sender may have added data meanwhile. The folder's own time has changed just now.
      if (ifEmpty && statusOf(join(folder, DATA))?.size !== 0) return false;
      return Date.now() - (contentTouchedAt(folder) ?? touched) >= ms && removeSession(folder);
    } catch {
      return false; // the next sweep retries
    } finally {
      lock.release();
    }
  }

  /** Yields the ids of all sessions, and lets the event loop run in between. */
  async *#ids(): AsyncGenerator<string> {
    for (const [index, entry] of entriesIn(join(this.#directory, SESSIONS)).entries()) {
      // Links may lead to folders of others. Earlier versions renamed folders before their removal.
      if (entry.isDirectory() && ID.test(entry.name.replace(/^\.removed-/, ""))) yield entry.name;
      if (index % AT_ONCE === AT_ONCE - 1) await new Promise<void>(atEndOfTurn);
    }
  }

  #lockOf(id: string, options: Partial<ProcessLockOptions>): ProcessLock {
    const busy = (): Error => sessionRefusal("LOCKED");
    return new ProcessLock({ directory: folderOf(this.#directory, id), subject: `the upload ${id}`, busy, ...options });
  }
}
