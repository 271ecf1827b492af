import type { S3Bucket, S3Object } from "../../s3/mod.ts";
import { BucketHold } from "./bucket_session.ts";
import {
  claimAfter,
  claimKey,
  claimsOf,
  folderOf,
  isState,
  isStoredState,
  listed,
  removeAll,
  removeSession,
  sessionOf,
  stateIn,
  touchedAt,
} from "./bucket_objects.ts";
import {
  SessionBusyError,
  type SessionHold,
  type SessionRecord,
  SESSIONS,
  type SessionStorage,
} from "./session_storage.ts";

/** How often a session is read anew whose holder changes it meanwhile. */
const TRIES = 5;

/**
 * Sessions in a bucket. There are no locks in it: who takes a session writes a claim of a higher number than all others,
 * notes what data there was when the claim could be seen, and puts its own pieces beside its claim. What a former holder
 * still stores counts no more, and it tells its sender nothing before it has seen that there is no higher claim. This
 * holds where a store shows in listings what was stored before, as S3 does.
 */
export class BucketSessions implements SessionStorage {
  readonly #bucket: S3Bucket;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async create(id: string, record: SessionRecord): Promise<SessionHold> {
    const claim = claimAfter(undefined);
    const hold = new BucketHold(this.#bucket, id, claim, { record, pieces: [], next: 0, touched: Date.now() });
    await this.#bucket.put(claimKey(id, claim), "");
    await hold.save(record);
    return hold;
  }

  async hold(id: string): Promise<SessionHold | undefined> {
    for (let tries = 0; tries < TRIES; tries++) {
      const claims = await claimsOf(this.#bucket, id);
      if (claims.length === 0) return undefined;
      const claim = claimAfter(claims.at(-1));
      await this.#bucket.put(claimKey(id, claim), "");
      const objects = await listed(this.#bucket, folderOf(id));
      const others = objects.filter(({ key }) => key.startsWith(claimKey(id, "")));
      if (others.some(({ key }) => key > claimKey(id, claim))) throw new SessionBusyError();
      const found = await stateIn(this.#bucket, objects);
      if (found === undefined) continue; // a former holder has written another meanwhile, or all is gone
      const hold = new BucketHold(this.#bucket, id, claim, found);
      await hold.note();
      const past = others.filter(({ key }) => key < claimKey(id, claim));
      // What is left goes with the session.
      await removeAll(this.#bucket, [...past, ...objects.filter(({ key }) => isState(key))]).catch(() => {});
      return hold;
    }
    return undefined;
  }

  async countOpen(): Promise<number> {
    const open = new Set<string>();
    const stored = new Set<string>();
    for await (const { key } of this.#bucket.list({ prefix: `${SESSIONS}/` })) {
      (isStoredState(key) ? stored : open).add(sessionOf(key));
    }
    return open.difference(stored).size;
  }

  async removeExpired(ms: number): Promise<number> {
    const sessions = new Map<string, S3Object[]>();
    for await (const object of this.#bucket.list({ prefix: `${SESSIONS}/` })) {
      const id = sessionOf(object.key);
      sessions.set(id, [...sessions.get(id) ?? [], object]);
    }
    let removed = 0;
    for (const [id, objects] of sessions) {
      if (Date.now() - touchedAt(objects) < ms) continue;
      // The store's clock may be behind: of what looks old, the state tells.
      const touched = (await stateIn(this.#bucket, objects))?.touched ?? 0;
      if (Date.now() - touched < ms) continue;
      // A claim of ours: who comes meanwhile finds the session incomplete, and who has it acknowledges nothing more.
      const last = (await claimsOf(this.#bucket, id)).at(-1);
      await this.#bucket.put(claimKey(id, claimAfter(last)), "");
      await removeSession(this.#bucket, id);
      removed++;
    }
    return removed;
  }
}
