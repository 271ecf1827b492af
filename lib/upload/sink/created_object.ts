import { randomUUID } from "node:crypto";
import type { Undoable, Undone } from "../../files/internal.ts";
import { sleep } from "../../timers/mod.ts";
import type { S3Bucket, S3Object } from "../../s3/mod.ts";

/** The metadata that names an object's upload, and its file in it: entity tags depend on the bytes alone. */
export const MARK = "millrace-upload";

const CHANGED = 412;
/** The status of what is missing, for keys that may not list the bucket. */
const FORBIDDEN = 403;
/** The number of further attempts at a removal, and the first pause before one in ms. */
const RETRIES = 4;
const FIRST_PAUSE = 100;

export class CreatedObject implements Undoable {
  /** The value of the metadata {@linkcode MARK} that it is stored with. */
  readonly mark: string = randomUUID();
  /** Whether it replaces another object, so that it has to stay. */
  replaced = false;
  readonly #bucket: S3Bucket;
  readonly #key: string;
  #stream: WritableStream<Uint8Array> | undefined = undefined;

  constructor(bucket: S3Bucket, key: string) {
    this.#bucket = bucket;
    this.#key = key;
  }

  /** Notes that the object is created when a stream is closed, for {@linkcode createdBy}. */
  isStoredBy(stream: WritableStream<Uint8Array>): void {
    this.#stream = stream;
    objects.set(stream, this);
  }

  /** Looks whether there is an object that it will replace; to be called just before it is stored. */
  async look(): Promise<void> {
    if (!this.replaced && await objectAt(this.#bucket, this.#key) !== undefined) this.replaced = true;
  }

  /**
   * Removes the object if it is there with its mark, on the condition that its entity tag stays. Between the look and the
   * removal, which are one round trip apart, a store may lose what replaces it: the same bytes, which have the same tag,
   * and any where the store does not know the condition.
   */
  async undo(): Promise<Undone> {
    if (this.replaced) return "kept";
    await this.#stream?.abort().catch(() => {}); // waits for a request that was begun before the failure
    try {
      return await this.#undo();
    } catch {
      return "kept";
    }
  }

  /** Each further attempt looks first: one whose answer was lost may have removed it. */
  async #undo(attempt = 0): Promise<Undone> {
    const there = await this.#bucket.head(this.#key);
    if (there?.metadata?.[MARK] !== this.mark) {
      return attempt > 0 ? "undone" : there === undefined ? "missing" : "changed";
    }
    try {
      await this.#bucket.delete(this.#key, { ifMatch: there.etag });
      return "undone";
    } catch (error) {
      // A failure without a status is that of an answer that was lost.
      const { status = 500, code } = error as { status?: number; code?: unknown };
      if (status === CHANGED) return "changed";
      const isPassing = code !== "CLOSED" && (status === 429 || status >= 500);
      if (attempt === RETRIES || !isPassing) throw error;
    }
    await sleep(FIRST_PAUSE * 2 ** attempt * (0.5 + Math.random() / 2));
    return await this.#undo(attempt + 1);
  }
}

/**
 * The object of a key, if there is one that may be seen. A store that hides what is missing says the same of an object
 * that may not be read: whether that is replaced, it decides by the condition under which the other is stored.
 */
export async function objectAt(bucket: S3Bucket, key: string): Promise<S3Object | undefined> {
  return await bucket.head(key).catch((error) => {
    if ((error as { status?: unknown }).status === FORBIDDEN) return undefined;
    throw error;
  });
}

const objects = new WeakMap<WritableStream<Uint8Array>, CreatedObject>();

/** The object that a stream creates when it is closed, if that can be taken away again. */
export function createdBy(stream: WritableStream<Uint8Array>): CreatedObject | undefined {
  return objects.get(stream);
}
