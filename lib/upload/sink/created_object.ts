import { randomUUID } from "node:crypto";
import type { Undoable, Undone } from "../../files/internal.ts";
import { sleep } from "../../timers/mod.ts";
import type { S3Bucket, S3Object } from "../../s3/mod.ts";

/** The metadata that identify an object's upload, and its file in it: entity tags depend only on the bytes. */
export const MARK = "millrace-upload";

const CHANGED = 412;
/** The status of a missing object for keys that may not list the bucket. */
const FORBIDDEN = 403;
/** The number of retries of a removal, and the first pause before one in ms. */
const RETRIES = 4;
const FIRST_PAUSE = 100;

export class CreatedObject implements Undoable {
  readonly mark: string = randomUUID();
  /** Whether the object has replaced another one, so that it must not be removed. */
  replaced = false;
  readonly #bucket: S3Bucket;
  readonly #key: string;
  #stream: WritableStream<Uint8Array> | undefined = undefined;

  constructor(bucket: S3Bucket, key: string) {
    this.#bucket = bucket;
    this.#key = key;
  }

  /** Notes that closing a stream creates the object, for {@linkcode createdBy}. */
  isStoredBy(stream: WritableStream<Uint8Array>): void {
    this.#stream = stream;
    objects.set(stream, this);
  }

  /** Checks whether an object exists that it will replace; called just before it is stored. */
  async look(): Promise<void> {
    if (!this.replaced && await objectAt(this.#bucket, this.#key) !== undefined) this.replaced = true;
  }

  /** Removes the object if it has this upload's mark. If the store supports conditions, the entity tag must be unchanged. */
  async undo(): Promise<Undone> {
    if (this.replaced) return "kept";
    await this.#stream?.abort().catch(() => {}); // waits for a request that began before the failure
    return await this.#undo().catch(() => "kept");
  }

  /** Checks before each retry: an earlier attempt with a lost response may have removed the object. */
  async #undo(attempt = 0): Promise<Undone> {
    const there = await this.#bucket.head(this.#key);
    if (there?.metadata?.[MARK] !== this.mark) {
      return attempt > 0 ? "undone" : there === undefined ? "missing" : "changed";
    }
    try {
      await this.#bucket.delete(this.#key, { ifMatch: there.etag });
      return "undone";
    } catch (error) {
      // A failure without a status means that the response was lost.
      const { status = 500, code } = error as { status?: number; code?: unknown };
      if (status === CHANGED) return "changed";
      const isPassing = code !== "CLOSED" && (status === 429 || status >= 500);
      if (attempt === RETRIES || !isPassing) throw error;
    }
    await sleep(FIRST_PAUSE * 2 ** attempt * (0.5 + Math.random() / 2));
    return await this.#undo(attempt + 1);
  }
}

/** Returns the object of a key; also undefined if a store does not distinguish missing and unreadable objects. */
export async function objectAt(bucket: S3Bucket, key: string): Promise<S3Object | undefined> {
  return await bucket.head(key).catch((error) => {
    if ((error as { status?: unknown }).status === FORBIDDEN) return undefined;
    throw error;
  });
}

const objects = new WeakMap<WritableStream<Uint8Array>, CreatedObject>();

/** Returns the object that a stream creates when it is closed, if that can be undone. */
export function createdBy(stream: WritableStream<Uint8Array>): CreatedObject | undefined {
  return objects.get(stream);
}
