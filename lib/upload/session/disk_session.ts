import { chmodSync, type Dirent, lstatSync, readdirSync, readFileSync, type Stats, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  flushFolder,
  isLockName,
  keepAttributes,
  type NameOptions,
  OpenFile,
  type ProcessLock,
  removeFileNow,
  removeFolderNow,
  takeName,
  writeAtomically,
  writeFully,
} from "../../files/internal.ts";
import { isTemporaryName } from "../../files/mod.ts";
import { nameLost } from "../body/upload_error.ts";
import type { SaveBodyOptions } from "../body/upload_options.ts";
import { type ContainedPlace, containedPlace, takePlace } from "../sink/contained_path.ts";
import { storageFailure } from "../sink/file_sink.ts";
import { openSink } from "../sink/open_sink.ts";
import { type OpenSession, parseRecord, type SessionRecord, SESSIONS, type StoreOptions } from "./session_storage.ts";

export const DATA = "data";
export const RECORD = "record.json";
/** The files of earlier versions: locks, files of forms, and unfinished records. */
const OLD = /^(?:lock\.\d+(?:\.free)?|wanted|part\.\d+|record\.json\.next)$/;
const CHUNK_SIZE = 256 * 1024;

/** The permission bits that this process needs for its files before they get their names. */
export const WRITABLE = 0o600;

export type DiskOptions = Pick<SaveBodyOptions, "mode" | "flush">;

/** A session in its own folder, protected by its lock. */
export class DiskSession implements OpenSession {
  readonly id: string;
  readonly #directory: string;
  readonly #folder: string;
  readonly #data: string;
  readonly #options: DiskOptions;
  readonly #lock: ProcessLock;
  record: SessionRecord;
  #file: OpenFile | undefined = undefined;
  /** The number of bytes before those written to the open file. */
  #settled = 0;

  constructor(id: string, directory: string, options: DiskOptions, lock: ProcessLock, record: SessionRecord) {
    this.id = id;
    this.#directory = directory;
    this.#folder = folderOf(directory, id);
    this.#data = join(this.#folder, DATA);
    this.#options = options;
    this.#lock = lock;
    this.record = record;
  }

  get offset(): number {
    return statusOf(this.#data)?.size ?? this.record.bytes ?? 0;
  }

  get touched(): number {
    return touchedAt(this.#folder);
  }

  async save({ own = identityAt(this.#data), ...given }: SessionRecord): Promise<void> {
    const record = given.state === "open" ? given : { ...given, own };
    const path = join(this.#folder, RECORD);
    this.#lock.requireHeld();
    const options = { mode: WRITABLE, flush: this.#options.flush ?? false, followLinks: false, atOnce: true };
    await writeAtomically(path, JSON.stringify(record), options).catch((error) => {
      throw storageFailure("write", path, "the upload", error);
    });
    this.record = record;
  }

  async append(pieces: readonly Uint8Array[]): Promise<void> {
    this.#lock.requireHeld();
    try {
      if (this.#file === undefined) {
        this.#file = await OpenFile.open(this.#data, "a");
        this.#settled = this.#file.size();
      }
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
      lstatSync(this.#data); // the file may have been removed, with its appended bytes
    } catch (error) {
      await file.drop();
      try {
        // The system has dropped bytes that could not be flushed, and would report success for the next flush.
        if (!this.#lock.isLost && statusOf(this.#data)!.size > this.#settled) truncateSync(this.#data, this.#settled);
      } catch {
        // The file was removed, or the device has failed permanently.
      }
      throw storageFailure("write", this.#data, "the upload", error);
    }
    this.#lock.requireHeld();
  }

  async doubt(): Promise<void> {
    await this.save({ ...this.record, verified: this.offset });
  }

  async vouch(): Promise<void> {
    const { verified: _verified, ...record } = this.record;
    await this.save(record);
  }

  async dropDoubted(): Promise<void> {
    await this.settle();
    this.#lock.requireHeld();
    if (this.offset > this.record.verified!) truncateSync(this.#data, this.record.verified!);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    await this.settle();
    const file = await OpenFile.open(this.#data, "r");
    try {
      const piece = new Uint8Array(CHUNK_SIZE);
      for (let length = await file.read(piece); length > 0; length = await file.read(piece)) {
        yield piece.subarray(0, length);
      }
    } finally {
      await file.close();
    }
  }

  async dropData(): Promise<void> {
    await this.settle();
    if (statusOf(this.#data) !== undefined) removeFileNow(this.#data);
  }

  async store(name: string, options: StoreOptions): Promise<string> {
    await this.settle();
    const place = containedPlace(name, this.#directory);
    try {
      await takePlace(place, options.claim, (before) => this.#takeName(name, place, options, before));
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EXDEV") throw error;
      await this.#copyTo(name, place.path, options);
    } finally {
      place.release();
    }
    return place.path;
  }

  /** Copies the data to a folder of another file system, and removes it. */
  async #copyTo(name: string, path: string, { overwrite, claim }: StoreOptions): Promise<void> {
    const there = statusOf(path);
    // An earlier attempt, which noted the identity of its copy, may have stored the file.
    const mayBeStored = this.record.own !== identityAt(this.#data);
    const isNewer = there !== undefined && there.mtimeMs !== this.record.found?.mtimeMs;
    if (mayBeStored && isNewer && overwrite && claim === undefined) throw nameLost(name);
    const sink = await openSink(name, { ...this.#options, root: this.#directory, overwrite, claim });
    try {
      for await (const piece of this.read()) await sink.write([piece]);
      await sink.end();
      await this.save({ ...this.record, own: identityAt(sink.temporary!) });
      this.#lock.requireHeld();
      await sink.commit();
    } catch (error) {
      await sink.discard(error);
      throw error;
    }
    removeFileNow(this.#data);
  }

  async #takeName(
    name: string,
    { path, reached }: ContainedPlace,
    { overwrite }: StoreOptions,
    before: NameOptions["before"],
  ): Promise<void> {
    const source = this.#data;
    const data = lstatSync(source, { bigint: true, throwIfNoEntry: false });
    const { own = identityAt(source) ?? identityAt(reached) } = this.record; // none in records of version 0.2
    const isStored = own !== undefined && identityAt(reached) === own;
    // An earlier attempt has stored the file. The inode number is not reliable on every system.
    const isLeft = isStored && (data === undefined || data.nlink !== 1n || identityAt(source) !== own);
    if (isLeft) return await this.dropData();
    if (data === undefined) throw nameLost(name);
    const place = statusOf(reached);
    const { mode, flush = false } = this.#options;
    this.#lock.requireHeld();
    try {
      const bits = Number(data.mode) & 0o777;
      // An earlier attempt has changed the permissions.
      if ((bits & WRITABLE) !== WRITABLE) chmodSync(source, bits | WRITABLE);
      const file = await OpenFile.open(source, "r+");
      try {
        if (overwrite && place?.isFile()) keepAttributes(file, place);
        if (mode !== undefined) file.chmod(mode & 0o7777);
        if (flush) await file.datasync();
      } finally {
        await file.close();
      }
      const taking = { replace: overwrite, atOnce: false, before, path };
      const take = () => takeName(source, reached, taking);
      await (flush ? flushFolder(dirname(reached), take) : take());
    } catch (error) {
      throw storageFailure("complete", path, JSON.stringify(name), error);
    }
  }

  async remove(): Promise<void> {
    await this.settle().catch(() => {}); // the data is removed
    this.#lock.requireHeld();
    removeSession(this.#folder);
    this.#lock.release();
  }

  async release(): Promise<void> {
    await this.settle().catch(() => {}); // the append has reported the failure
    this.#lock.release();
  }
}

/** Returns the identity of a file that renames, restarts and mounts keep, and that a write changes: without births, in Deno's ms. */
function identityAt(path: string): string | undefined {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return status && [status.ino, status.size, status.mtimeMs].join(" ");
}

export function folderOf(directory: string, id: string): string {
  return join(directory, SESSIONS, id);
}

function isOwnName(name: string): boolean {
  return [DATA, RECORD].includes(name) || isLockName(name) || isTemporaryName(name) || OLD.test(name);
}

/**
 * Removes the files of a session, and its folder if that is then empty; returns whether the folder was removed. Without
 * the record, which is the first, requests do not find the session: a sweep removes what is left.
 *
 * @throws {Error} if the record cannot be removed; the session is unchanged then.
 */
export function removeSession(folder: string): boolean {
  const names = entriesIn(folder).map(({ name }) => name).filter(isOwnName);
  if (names.includes(RECORD)) removeFileNow(join(folder, RECORD));
  for (const name of names) {
    try {
      if (name !== RECORD) removeFileNow(join(folder, name));
    } catch {
      // The folder cannot be removed now.
    }
  }
  try {
    removeFolderNow(folder);
    return true;
  } catch {
    return false;
  }
}

export function recordIn(folder: string): SessionRecord | undefined {
  const text = unlessMissing(() => readFileSync(join(folder, RECORD), "utf8"));
  return text === undefined ? undefined : parseRecord(text);
}

/** Returns the time of the last change of a session's data or record; undefined if it has neither. */
export function contentTouchedAt(folder: string): number | undefined {
  const times = [DATA, RECORD].map((name) => statusOf(join(folder, name))?.mtimeMs ?? 0);
  return Math.max(...times) || undefined;
}

export function touchedAt(folder: string): number {
  return contentTouchedAt(folder) ?? statusOf(folder)?.mtimeMs ?? Date.now();
}

export function statusOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

export function entriesIn(folder: string): Dirent[] {
  return unlessMissing(() => readdirSync(folder, { withFileTypes: true })) ?? [];
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}
