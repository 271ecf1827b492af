import { abortUpload, contexts, deleteObjects, listUploads } from "../../s3/internal.ts";
import type { S3Bucket, S3Object } from "../../s3/mod.ts";
import { BucketSession } from "./bucket_session.ts";
import { folderOf, isStoredRecord, listed, sessionOf, SmallObjects, type State, stateOf } from "./bucket_objects.ts";
import { type OpenSession, parseRecord, type SessionRecord, SESSIONS, type SessionStorage } from "./session_storage.ts";

/** The maximum reads of a session whose record another server replaces repeatedly. */
const TRIES = 5;

/**
 * The sessions in a bucket: data is a multipart upload, and objects for bytes that are too few for a part.
 *
 * A bucket has no locks. Names describe the bytes of an object, and the longest data that they describe is the
 * session's state: a former owner can only add bytes of the same upload. This requires consistent listings, as in S3.
 */
export class BucketSessions implements SessionStorage {
  readonly #bucket: S3Bucket;
  readonly #small: SmallObjects;
  readonly #touchEvery: number;

  constructor(bucket: S3Bucket, maxAge: number) {
    this.#bucket = bucket;
    this.#touchEvery = maxAge / 4;
    this.#small = new SmallObjects(bucket);
  }

  async create(id: string, record: SessionRecord): Promise<OpenSession> {
    const session = this.#open(id, record, stateOf([]));
    await session.save(record).catch(async (error) => {
      await session.release();
      throw error;
    });
    return session;
  }

  async session(id: string): Promise<OpenSession | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      const state = stateOf(await listed(this.#bucket, folderOf(id)));
      if (state.record === undefined) return undefined;
      const text = await this.#small.readText(state.record).catch((error) => {
        if ((error as { status?: unknown }).status === 404) return "";
        throw error;
      });
      const record = parseRecord(text);
      if (record !== undefined) return this.#open(id, record, state);
    }
    return undefined;
  }

  #open(id: string, record: SessionRecord, state: State): BucketSession {
    return new BucketSession(this.#bucket, this.#small, this.#touchEvery, id, record, state);
  }

  async countOpen(): Promise<number> {
    const keys = (await listed(this.#bucket, `${SESSIONS}/`)).map(({ key }) => key);
    const stored = new Set(keys.filter(isStoredRecord).map(sessionOf));
    return new Set(keys.map(sessionOf)).difference(stored).size;
  }

  async removeExpired(ms: number): Promise<void> {
    const { store } = contexts.get(this.#bucket)!;
    // A session's record is older than its uploads.
    const uploads = await Array.fromAsync(listUploads(store, `${SESSIONS}/`));
    const sessions = Map.groupBy(await listed(this.#bucket, `${SESSIONS}/`), ({ key }) => sessionOf(key));
    for (const [id, objects] of sessions) {
      if (Date.now() - touchedAt(objects) < ms) continue;
      const there = await listed(this.#bucket, folderOf(id)); // its sender may have resumed it since
      if (there.length > 0 && Date.now() - touchedAt(there) < ms) continue;
      await deleteObjects(store, there.map(({ key }) => key));
      sessions.delete(id);
    }
    for (const upload of uploads) if (!sessions.has(sessionOf(upload.key))) await abortUpload(store, upload);
  }
}

/** Returns the time of a session's last change, by the times in names, or by the store's clock for names without one. */
function touchedAt(objects: readonly S3Object[]): number {
  const { touched } = stateOf(objects);
  return touched > 0 ? touched : objects.reduce((last, { lastModified }) => Math.max(last, lastModified.getTime()), 0);
}
