import { randomUUID } from "node:crypto";
import type { Undoable, Undone } from "../../files/internal.ts";
import { contexts, deleteObject } from "../../s3/internal.ts";
import type { S3Bucket, S3Object, S3Writable } from "../../s3/mod.ts";

/** The metadata that identify an object's upload, and its file in it: entity tags depend only on the bytes. */
export const MARK = "millrace-upload";

const CHANGED = 412;
/** The status of a missing object for keys that may not list the bucket. */
const FORBIDDEN = 403;

/** An object that can be removed by its version, or while no other object may have taken its name. */
export class CreatedObject implements Undoable {
  readonly mark: string = randomUUID();
  readonly #bucket: S3Bucket;
  readonly #key: string;
  readonly #mayBeReplaced: boolean;
  /** The stream that creates the object when it is closed. */
  stream: S3Writable | undefined = undefined;

  constructor(bucket: S3Bucket, key: string, mayBeReplaced: boolean) {
    this.#bucket = bucket;
    this.#key = key;
    this.#mayBeReplaced = mayBeReplaced;
  }

  async undo(): Promise<Undone> {
    await this.stream?.abort().catch(() => {}); // waits for a request that began before the failure
    try {
      const { store } = contexts.get(this.#bucket)!;
      // Without the right to list, 403 is the status of a missing object, which a stored one is not.
      const isStored = this.stream?.stored !== undefined;
      const there = await (isStored ? this.#bucket.head(this.#key) : objectAt(this.#bucket, this.#key));
      if (there?.metadata?.[MARK] !== this.mark) return there === undefined ? "missing" : "changed";
      const { versionId, etag: ifMatch } = there;
      // Without a version, an equal object may be stored between both requests, and a condition cannot tell it.
      if (versionId === undefined && this.#mayBeReplaced) return "kept";
      // Without a version it is sent once: a repeated request may be carried out after the name is free again.
      const removed = deleteObject(store, this.#key, versionId === undefined ? { ifMatch } : { versionId });
      await removed.catch((error) => {
        const isForbidden = versionId !== undefined && (error as { status?: unknown }).status === FORBIDDEN;
        if (!isForbidden || this.#mayBeReplaced) throw error;
        return deleteObject(store, this.#key, { ifMatch }); // versions need a right of their own
      });
      return "undone";
    } catch (error) {
      return (error as { status?: unknown }).status === CHANGED ? "changed" : "kept";
    }
  }
}

/** Returns the object of a key; also undefined if a store does not distinguish missing and unreadable objects. */
export async function objectAt(bucket: S3Bucket, key: string): Promise<S3Object | undefined> {
  return await bucket.head(key).catch((error) => {
    if ((error as { status?: unknown }).status === FORBIDDEN) return undefined;
    throw error;
  });
}

/** The objects that streams create when they are closed, if that can be undone. */
export const createdObjects: WeakMap<WritableStream<Uint8Array>, CreatedObject> = new WeakMap();
