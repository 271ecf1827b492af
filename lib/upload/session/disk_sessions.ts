import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  type Stats,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  CreatedFile,
  flushFolder,
  identityIn,
  isLockName,
  keepAttributes,
  makeDirectorySync,
  OpenFile,
  ProcessLock,
  type ProcessLockOptions,
  renameFile,
  renameFileNow,
  takeName,
  writeFully,
} from "../../files/internal.ts";
import { isTemporaryName } from "../../files/mod.ts";
import { UploadError } from "../body/upload_error.ts";
import { containedPath } from "../sink/contained_path.ts";
import { storageFailure } from "../sink/file_sink.ts";
import {
  type HoldOptions,
  parseRecord,
  SessionBusyError,
  type SessionHold,
  type SessionRecord,
  type SessionStorage,
  type StoreOptions,
} from "./session_storage.ts";

/** The folder of sessions in the one for uploads: no upload may have a name that begins so. */
export const SESSIONS = ".millrace-uploads";

const DATA = "data";
const RECORD = "record.json";
/** A record that is being written. */
const NEXT_RECORD = "record.json.next";
const ID = /^[0-9a-f]{32}$/;
/** The beginning of the name of a session that is removed: it is gone, and only its files are left to be. */
const REMOVED = ".removed-";
/** Files by which the locks of earlier versions were held. */
const OLD_LOCK = /^(?:lock\.\d+(?:\.free)?|wanted)$/;
/** How long a request for a session that another has waits for it, in ms. */
const HAND_OVER = 10_000;
/** Sessions that are looked at before other work has its turn. */
const AT_ONCE = 100;
/** Files that are stored together once the data is whole. */
const PART = /^part\.\d+$/;
/** Bytes that are read of the data at a time. */
const PIECE = 256 * 1024;

/** How files are stored. */
export interface DiskOptions {
  /** The permission bits of files. */
  readonly mode?: number | undefined;
  /** Whether what is acknowledged is on the disk. */
  readonly flush?: boolean | undefined;
}

/** Sessions in a folder of their own below the one for uploads, so that data becomes a file by taking its name. */
export class DiskSessions implements SessionStorage {
  readonly #directory: string;
  readonly #options: DiskOptions;

  /** @param directory The folder for uploads, which is there. */
  constructor(directory: string, options: DiskOptions) {
    this.#directory = directory;
    this.#options = options;
  }

  async create(id: string, record: SessionRecord, onWanted: () => void): Promise<SessionHold> {
    const folder = this.#folderOf(id);
    const lock = this.#lockOf(id, { waitFor: HAND_OVER, onHandOverRequested: onWanted });
    try {
      makeDirectorySync(dirname(folder));
      mkdirSync(folder);
      await lock.take();
      const hold = new DiskHold(id, folder, this.#directory, this.#options, lock, record);
      await hold.save(record);
      writeFileSync(join(folder, DATA), "", { flag: "a", mode: this.#options.mode });
      return hold;
    } catch (error) {
      lock.release();
      abandon(folder);
      if (error instanceof UploadError) throw error;
      throw storageFailure("create", folder, "the upload", error);
    }
  }

  async hold(
    id: string,
    onWanted: () => void,
    { toRemove = false }: HoldOptions = {},
  ): Promise<SessionHold | undefined> {
    const folder = this.#folderOf(id);
    const lock = this.#lockOf(id, { waitFor: HAND_OVER, onHandOverRequested: onWanted, mayLackFile: toRemove });
    try {
      await lock.take();
      const record = recordIn(folder);
      if (record) return new DiskHold(id, folder, this.#directory, this.#options, lock, record);
    } catch (error) {
      lock.release();
      if (error instanceof SessionBusyError) throw error;
      if ((error as { code?: unknown }).code === "ENOENT") return undefined;
      throw storageFailure("read", folder, "the upload", error);
    }
    lock.release(); // it was killed before its record was there: no sender knows of it
    return undefined;
  }

  async countOpen(): Promise<number> {
    let open = 0;
    for await (const id of this.#ids()) if (statusOf(join(this.#folderOf(id), DATA)) !== undefined) open++;
    return open;
  }

  async removeExpired(ms: number): Promise<number> {
    for (const name of namesIn(join(this.#directory, SESSIONS))) {
      if (name.startsWith(REMOVED) && ID.test(name.slice(REMOVED.length))) empty(join(this.#directory, SESSIONS, name));
    }
    let removed = 0;
    // Several at a time, as the locks of another container may have to be watched.
    const expiring: Promise<boolean>[] = [];
    const finish = async () => removed += (await Promise.all(expiring.splice(0))).filter(Boolean).length;
    for await (const id of this.#ids()) {
      if (Date.now() - touchedAt(this.#folderOf(id)) < ms) continue;
      if (expiring.push(this.#expire(id, ms)) === AT_ONCE) await finish();
    }
    await finish();
    return removed;
  }

  /** Removes a session that has expired, unless another has it; tells whether it did. */
  async #expire(id: string, ms: number): Promise<boolean> {
    const folder = this.#folderOf(id);
    const touched = touchedAt(folder);
    const lock = this.#lockOf(id, { mayLackFile: true });
    try {
      await lock.take();
      // Its data may have been continued meanwhile. The folder itself has just been touched.
      return Date.now() - (contentTouchedAt(folder) ?? touched) >= ms && removeSession(folder);
    } catch {
      return false; // the next time tries again
    } finally {
      lock.release();
    }
  }

  /** The sessions that there are. Other work of the process has its turn between them. */
  async *#ids(): AsyncGenerator<string> {
    for (const [index, id] of namesIn(join(this.#directory, SESSIONS)).entries()) {
      if (ID.test(id)) yield id;
      if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #folderOf(id: string): string {
    return join(this.#directory, SESSIONS, id);
  }

  #lockOf(id: string, options: Partial<ProcessLockOptions>): ProcessLock {
    const subject = `the upload ${id}`;
    return new ProcessLock({ directory: this.#folderOf(id), subject, busy: () => new SessionBusyError(), ...options });
  }
}

class DiskHold implements SessionHold {
  readonly id: string;
  readonly #folder: string;
  readonly #directory: string;
  readonly #options: DiskOptions;
  readonly #lock: ProcessLock;
  #record: SessionRecord;
  #file: OpenFile | undefined = undefined;

  constructor(
    id: string,
    folder: string,
    directory: string,
    options: DiskOptions,
    lock: ProcessLock,
    record: SessionRecord,
  ) {
    this.id = id;
    this.#folder = folder;
    this.#directory = directory;
    this.#options = options;
    this.#lock = lock;
    this.#record = record;
  }

  get record(): SessionRecord {
    return this.#record;
  }

  get offset(): number {
    return statusOf(this.#data)?.size ?? this.#record.bytes ?? 0;
  }

  get touched(): number {
    return touchedAt(this.#folder);
  }

  get #data(): string {
    return join(this.#folder, DATA);
  }

  async save(record: SessionRecord): Promise<void> {
    const next = join(this.#folder, NEXT_RECORD);
    this.#lock.requireHeld();
    try {
      writeFileSync(next, JSON.stringify(record), { mode: 0o600 });
      if (this.#options.flush) await flushed(next);
      await renameFile(next, join(this.#folder, RECORD), { atOnce: true });
      if (this.#options.flush) await flushFolder(this.#folder);
    } catch (error) {
      throw storageFailure("write", next, "the upload", error);
    }
    this.#record = record;
  }

  async append(pieces: readonly Uint8Array[]): Promise<void> {
    this.#lock.requireHeld();
    try {
      this.#file ??= await OpenFile.open(this.#data, "a");
      await writeFully(this.#file, pieces);
    } catch (error) {
      throw storageFailure("write", this.#data, "the upload", error);
    }
  }

  async settle(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    if (file === undefined) return;
    try {
      if (this.#options.flush) await file.datasync();
      await file.close();
      lstatSync(this.#data); // it may have been removed, and what was appended with it
    } catch (error) {
      throw storageFailure("write", this.#data, "the upload", error);
    }
    this.#lock.requireHeld();
  }

  async truncate(offset: number): Promise<void> {
    await this.settle();
    this.#lock.requireHeld();
    truncateSync(this.#data, offset);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    await this.settle();
    const file = await OpenFile.open(this.#data, "r");
    try {
      const piece = new Uint8Array(PIECE);
      for (let length = await file.read(piece); length > 0; length = await file.read(piece)) {
        yield piece.subarray(0, length);
      }
    } finally {
      await file.close();
    }
  }

  async concatenate(others: readonly SessionHold[]): Promise<void> {
    for (const other of others) {
      for await (const piece of other.read()) await this.append([piece]);
    }
    await this.settle();
  }

  staged(part: string): string {
    return join(this.#folder, part);
  }

  async clearStage(): Promise<void> {
    for (const name of namesIn(this.#folder)) {
      if (PART.test(name) || isTemporaryName(name)) await unlink(join(this.#folder, name));
    }
  }

  async dropData(): Promise<void> {
    await this.settle();
    if (statusOf(this.#data) !== undefined) unlinkSync(this.#data);
  }

  async store(name: string, options: StoreOptions): Promise<string> {
    await this.settle();
    const path = containedPath(name, this.#directory);
    await this.#takeName(name, path, options);
    return path;
  }

  async #takeName(name: string, path: string, { overwrite, part = DATA, made }: StoreOptions): Promise<void> {
    const source = join(this.#folder, part);
    const data = lstatSync(source, { bigint: true, throwIfNoEntry: false });
    if (data === undefined) return; // it was stored before this process began
    const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (there !== undefined && there.ino === data.ino && there.dev === data.dev) {
      made?.push(new CreatedFile(path, identityIn(there))); // a second name replaces nothing
      unlinkSync(source); // killed between its two names
      return;
    }
    const place = statusOf(path);
    const { mode, flush = false } = this.#options;
    this.#lock.requireHeld();
    try {
      const file = await OpenFile.open(source, "r+");
      try {
        if (overwrite && place?.isFile()) await keepAttributes(file, place);
        if (mode !== undefined) await file.chmod(mode & 0o7777);
        if (flush) await file.datasync();
      } finally {
        await file.close();
      }
      if (made === undefined) await takeName(source, path, { replace: overwrite, atOnce: false });
      else await CreatedFile.take(source, path, { replace: overwrite, atOnce: false }, made);
      if (flush) await flushFolder(dirname(path));
    } catch (error) {
      throw storageFailure("complete", path, JSON.stringify(name), error);
    }
  }

  async remove(): Promise<void> {
    await this.settle().catch(() => {}); // it goes away
    this.#lock.requireHeld();
    removeSession(this.#folder);
    this.#lock.release();
  }

  async release(): Promise<void> {
    await this.settle().catch(() => {}); // what failed was told by the append
    this.#lock.release();
  }
}

/** Whether a name in the folder of a session is one that sessions use. */
function isOwnName(name: string): boolean {
  return [DATA, RECORD, NEXT_RECORD].includes(name) || PART.test(name) || isTemporaryName(name) || isLockName(name) ||
    OLD_LOCK.test(name);
}

/**
 * Removes a session; tells whether all of it is gone. It gets another name first, so that no request finds it any more, and
 * needs no room on the disk. Files of others stay in their place.
 */
function removeSession(folder: string): boolean {
  if (!namesIn(folder).every(isOwnName)) return empty(folder);
  const removed = join(dirname(folder), REMOVED + basename(folder));
  try {
    renameFileNow(folder, removed);
  } catch {
    return empty(folder); // the folder of sessions has no room for another name, or something of it is open on Windows
  }
  return empty(removed);
}

/** Removes the files of a session, and its folder unless there is something else in it; tells whether that is gone. */
function empty(folder: string): boolean {
  // The record first: without it no request finds the session, and what is left of it expires.
  for (const name of namesIn(folder).filter(isOwnName).sort((a, b) => Number(b === RECORD) - Number(a === RECORD))) {
    try {
      unlinkSync(join(folder, name));
    } catch {
      // The folder cannot be removed then, and the next sweep tries again.
    }
  }
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** Removes a session that nobody will ever ask for, as far as that can be done: what is left expires. */
function abandon(folder: string): void {
  try {
    removeSession(folder);
  } catch {
    // The error that led here is the one to tell.
  }
}

function recordIn(folder: string): SessionRecord | undefined {
  try {
    return parseRecord(readFileSync(join(folder, RECORD), "utf8"));
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

/** When the data or the record of a session was changed, in ms since 1970; undefined if it has neither. */
function contentTouchedAt(folder: string): number | undefined {
  const times = [DATA, RECORD].map((name) => statusOf(join(folder, name))?.mtimeMs ?? 0);
  return Math.max(...times) || undefined;
}

/** When a session was changed, in ms since 1970. */
function touchedAt(folder: string): number {
  return contentTouchedAt(folder) ?? statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
}

function statusOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return [];
    throw error;
  }
}

async function flushed(path: string): Promise<void> {
  const file = await OpenFile.open(path, "r+");
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
