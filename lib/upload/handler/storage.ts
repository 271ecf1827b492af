import { lstatSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { makeDirectorySync, ProcessLock, reasonOf, removeAbandonedOnce } from "../../files/internal.ts";
import type { S3Bucket } from "../../s3/mod.ts";
import { ifMatchHolds, ifNoneMatchLists, ifUnmodifiedSinceHolds } from "../../semantics/mod.ts";
import { fieldOf } from "../body/body_source.ts";
import { again, nameTaken, Refusal, UploadError } from "../body/upload_error.ts";
import type { SaveFormOptions } from "../form/form_options.ts";
import { BucketSessions } from "../session/bucket_sessions.ts";
import { DiskSessions } from "../session/disk_sessions.ts";
import { SESSIONS, type SessionStorage, storableType } from "../session/session_storage.ts";
import type { Claim } from "../sink/contained_path.ts";
import { shortage } from "../sink/file_sink.ts";
import { CreatedObject, createdObjects, MARK, objectAt } from "../sink/created_object.ts";
import type { BodyDestination } from "../sink/open_sink.ts";
import type { UploadRequest } from "./incoming.ts";

export interface Place {
  readonly mtimeMs: number;
  /** The entity tag of an object; files on a disk have none. */
  readonly etag?: string;
}

interface PlaceOptions {
  readonly overwrite: boolean;
  readonly contentType: string;
  /** The announced size, if any, by which the parts of an object are planned. */
  readonly size: number | undefined;
  /** Whether storing the file must be undoable. Default: false. */
  readonly isUndoable?: boolean;
  /** The only file, or absence of a file, that the new file may replace. Default: any. */
  readonly only?: { readonly found: Place | undefined };
}

export type Storage = DiskStorage | BucketStorage;

function requireFolder(directory: string, name: string): void {
  const end = name.lastIndexOf("/");
  if (end === -1) return;
  const folder = name.slice(0, end);
  let status: Stats | undefined;
  try {
    status = statSync(join(directory, folder), { throwIfNoEntry: false });
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOTDIR") throw error;
  }
  if (status?.isDirectory()) return;
  throw noFolder(name, folder);
}

function noFolder(name: string, folder: string, cause?: unknown): Refusal {
  const message = `Cannot store ${JSON.stringify(name)}: there is no folder ${JSON.stringify(folder)}`;
  return new Refusal("NO_FOLDER", message, {}, cause);
}

function badKey(name: string, cause: unknown): UploadError {
  return new UploadError("BAD_NAME", `${JSON.stringify(name)} can be no name here`, { cause });
}

/** @throws {Refusal} 412 if a condition of a request does not hold (RFC 9110, 13.2.2). Files match no tag. */
export function requireConditions(source: UploadRequest["source"], status: Place | undefined): void {
  const ifMatch = fieldOf(source, "if-match");
  if (ifMatch !== undefined && (status === undefined || !ifMatchHolds(ifMatch, status.etag))) {
    throw conditionFailed("If-Match");
  }
  const since = ifMatch === undefined ? fieldOf(source, "if-unmodified-since") : undefined;
  const hasChanged = status && since !== undefined && !ifUnmodifiedSinceHolds(since, status.mtimeMs);
  if (hasChanged) throw conditionFailed("If-Unmodified-Since");
  if (status && wantsNone(source, status.etag)) throw conditionFailed("If-None-Match");
}

/** Returns the name of the request's condition for the file it replaces; undefined without one. */
export function conditionIn(source: UploadRequest["source"]): string | undefined {
  return ["If-Match", "If-Unmodified-Since", "If-None-Match"]
    .find((name) => fieldOf(source, name.toLowerCase()) !== undefined);
}

/** Whether a request requires that the file does not exist, or has another entity tag. */
export function wantsNone(source: UploadRequest["source"], etag?: string): boolean {
  const field = fieldOf(source, "if-none-match");
  return field !== undefined && ifNoneMatchLists(field, etag);
}

export function conditionFailed(field: string, cause?: unknown): Refusal {
  return new Refusal("PRECONDITION_FAILED", `The condition of ${field} does not hold`, {}, cause);
}

/** The maximum wait in ms for the lock of names, which other processes keep for a few file system calls. */
const MAX_WAIT = 10_000;

export class DiskStorage {
  readonly #directory: string;
  readonly #options: Pick<SaveFormOptions, "mode" | "flush">;

  constructor(directory: string, options: Pick<SaveFormOptions, "mode" | "flush">) {
    this.#directory = directory;
    this.#options = options;
    try {
      makeDirectorySync(directory);
    } catch (cause) {
      throw new Error(`cannot make the directory ${directory} for uploads: ${reasonOf(cause)}`, { cause });
    }
    removeAbandonedOnce(directory);
  }

  /** Returns the file or link with a name. Synchronous, since more of the body could arrive in another turn. */
  look(name: string): Place | undefined {
    try {
      requireFolder(this.#directory, name);
      const path = join(this.#directory, name);
      const status = lstatSync(path, { throwIfNoEntry: false });
      const isLink = status?.isSymbolicLink() && !statSync(path, { throwIfNoEntry: false })?.isDirectory();
      if (status === undefined || status.isFile() || isLink) return status;
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== "ENAMETOOLONG") throw cause;
      throw new UploadError("BAD_NAME", `${JSON.stringify(name)} is no name for a file: it is too long`, { cause });
    }
    throw new UploadError("EXISTS", `Cannot store ${JSON.stringify(name)}: there is something else of that name`);
  }

  destination(name: string): BodyDestination {
    return name;
  }

  /** Returns the conditions of a PUT, which held for `found` and are checked again when its file takes the name. */
  claim(source: UploadRequest["source"], found?: Place): Claim {
    const directory = join(this.#directory, SESSIONS, ".names");
    return {
      lock() {
        makeDirectorySync(directory);
        const busy = (): Refusal => again("Another process stores a file");
        const subject = "the names of files";
        return new ProcessLock({ directory, subject, waitFor: MAX_WAIT, mayLackFile: true, busy });
      },
      check(status) {
        requireConditions(source, status);
        // HTTP dates have whole seconds.
        const isAnother = found !== undefined && status !== undefined && status.mtimeMs !== found.mtimeMs;
        if (conditionIn(source) === "If-Unmodified-Since" && isAnother) throw conditionFailed("If-Unmodified-Since");
      },
    };
  }

  explained(error: unknown): unknown {
    return error; // its message is already one for the sender
  }

  sessions(): SessionStorage {
    return new DiskSessions(this.#directory, this.#options);
  }
}

/** Codes with which stores report that a bucket, or the store itself, is full. */
const FULL = /quota|storagefull|insufficientstorage/i;

/** Files as objects of a bucket: names are keys. */
export class BucketStorage {
  readonly #bucket: S3Bucket;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async look(name: string): Promise<Place | undefined> {
    try {
      const object = await objectAt(this.#bucket, name);
      return object && { mtimeMs: object.lastModified.getTime(), etag: object.etag };
    } catch (error) {
      throw this.explained(error, name);
    }
  }

  claim(source: UploadRequest["source"]): Claim {
    return { check: (found) => requireConditions(source, found) };
  }

  destination(name: string, { overwrite, contentType, size, isUndoable, only }: PlaceOptions): BodyDestination {
    const created = isUndoable ? new CreatedObject(this.#bucket, name, overwrite) : undefined;
    const ifMatch = only?.found?.etag;
    const stream = this.#bucket.writable(name, {
      overwrite: overwrite && !(only && ifMatch === undefined),
      ...(ifMatch !== undefined && { ifMatch }),
      contentType: storableType(contentType),
      ...(size !== undefined && { size }),
      ...(created && { metadata: { [MARK]: created.mark } }),
    });
    if (created === undefined) return stream;
    created.stream = stream;
    createdObjects.set(stream, created);
    return stream;
  }

  explained(error: unknown, name: string): unknown {
    const { name: kind, status, code } = (error ?? {}) as { name?: unknown; status?: unknown; code?: unknown };
    if (error instanceof RangeError) return badKey(name, error);
    if (kind !== "S3Error") return shortage(error) ?? error;
    if (status === 507 || FULL.test(String(code))) {
      return new UploadError("NO_SPACE", "The storage is full, or its quota reached", { cause: error });
    }
    // The last two answer `If-Match` for an object that was removed, or is being replaced.
    if (status === 412 || code === "NoSuchKey" || code === "ConditionalRequestConflict") return nameTaken(name, error);
    // Stores on a file system, where the key of an object is a path.
    if (code === "ObjectParentIsFile") return noFolder(name, name.slice(0, name.lastIndexOf("/")), error);
    if (code === "ExistingObjectIsDirectory") return nameTaken(name, error);
    if (code === "KeyTooLongError") return badKey(name, error);
    const isAnswered = typeof status === "number" && status >= 300 && status < 500 && status !== 429;
    if (isAnswered && code !== "NoSuchUpload") return error;
    return again("The storage cannot be reached", error);
  }

  sessions(maxAge: number): SessionStorage {
    return new BucketSessions(this.#bucket, maxAge);
  }
}
