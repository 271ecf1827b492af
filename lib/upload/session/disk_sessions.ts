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
import { dirname, join } from "node:path";
import {
  CreatedFile,
  flushFolder,
  identityIn,
  keepAttributes,
  makeDirectorySync,
  OpenFile,
  renameFile,
  takeName,
  writeFully,
} from "../../files/internal.ts";
import { isTemporaryName } from "../../files/mod.ts";
import { containedPath } from "../sink/contained_path.ts";
import { storageFailure } from "../sink/file_sink.ts";
import { isLockName, SessionLock } from "./session_lock.ts";
import { parseRecord, type SessionRecord } from "./session_storage.ts";
import { SessionBusyError, type SessionHold, type SessionStorage, type StoreOptions } from "./session_storage.ts";

/** The folder of sessions in the one for uploads: no upload may have a name that begins so. */
export const SESSIONS = ".millrace-uploads";

const DATA = "data";
const RECORD = "record.json";
/** A record that is being written. */
const NEXT_RECORD = "record.json.next";
const ID = /^[0-9a-f]{32}$/;
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
    let lock: SessionLock | undefined;
    try {
      makeDirectorySync(dirname(folder));
      mkdirSync(folder);
      lock = (await SessionLock.take(folder, onWanted))!;
      const hold = new DiskHold(id, folder, this.#directory, this.#options, lock, record);
      await hold.save(record);
      writeFileSync(join(folder, DATA), "", { flag: "a", mode: this.#options.mode });
      return hold;
    } catch (error) {
      lock?.release();
      abandon(folder);
      throw storageFailure("create", folder, "the upload", error);
    }
  }

  async hold(id: string, onWanted: () => void): Promise<SessionHold | undefined> {
    const folder = this.#folderOf(id);
    let lock: SessionLock | undefined;
    try {
      lock = await SessionLock.take(folder, onWanted); // a full disk has no room for it
      const record = lock && recordIn(folder);
      if (lock && record) return new DiskHold(id, folder, this.#directory, this.#options, lock, record);
    } catch (error) {
      lock?.release();
      if (error instanceof SessionBusyError) throw error;
      throw storageFailure("read", folder, "the upload", error);
    }
    lock?.release(); // it was killed before its record was there: nobody knows of it
    return undefined;
  }

  async countOpen(): Promise<number> {
    let open = 0;
    for await (const id of this.#ids()) if (statusOf(join(this.#folderOf(id), DATA)) !== undefined) open++;
    return open;
  }

  async removeExpired(ms: number): Promise<number> {
    let removed = 0;
    for await (const id of this.#ids()) {
      const folder = this.#folderOf(id);
      if (Date.now() - touchedAt(folder) < ms) continue;
      const lock = await SessionLock.take(folder, () => {}).catch(() => undefined);
      // Somebody may have come meanwhile.
      if (lock !== undefined && Date.now() - touchedAt(folder) >= ms && removeSession(folder)) removed++;
      lock?.release();
    }
    return removed;
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
}

class DiskHold implements SessionHold {
  readonly id: string;
  readonly #folder: string;
  readonly #directory: string;
  readonly #options: DiskOptions;
  readonly #lock: SessionLock;
  #record: SessionRecord;
  #file: OpenFile | undefined = undefined;

  constructor(
    id: string,
    folder: string,
    directory: string,
    options: DiskOptions,
    lock: SessionLock,
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
    try {
      this.#lock.require();
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
    try {
      this.#lock.require();
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
      lstatSync(this.#data); // somebody may have removed it, and what was appended with it
    } catch (error) {
      throw storageFailure("write", this.#data, "the upload", error);
    }
  }

  async truncate(offset: number): Promise<void> {
    await this.settle();
    this.#lock.require();
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
    try {
      this.#lock.require();
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
    this.#lock.require();
    removeSession(this.#folder);
    this.#lock.release();
  }

  async release(): Promise<void> {
    await this.settle().catch(() => {}); // what failed was told by the append
    this.#lock.release();
  }
}

/** Removes the files of a session, and its folder unless there is something of somebody else in it. */
function removeSession(folder: string): boolean {
  const ours = namesIn(folder).filter((name) =>
    name === DATA || name === RECORD || name === NEXT_RECORD || PART.test(name) || isTemporaryName(name)
  );
  // The record last: without it nobody finds the session.
  for (const name of [...ours.filter((name) => name !== RECORD).sort(), ...ours.filter((name) => name === RECORD)]) {
    unlinkSync(join(folder, name));
  }
  for (const name of namesIn(folder)) if (isLockName(name)) unlinkSync(join(folder, name));
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

/** When the data or the record of a session was changed, in ms since 1970. */
function touchedAt(folder: string): number {
  const times = [DATA, RECORD].map((name) => statusOf(join(folder, name))?.mtimeMs ?? 0);
  return Math.max(...times) || statSync(folder, { throwIfNoEntry: false })?.mtimeMs || Date.now();
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
