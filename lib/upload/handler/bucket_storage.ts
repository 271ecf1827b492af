import type { S3Bucket } from "../../s3/mod.ts";
import { UploadError } from "../body/upload_error.ts";
import { BucketSessions } from "../session/bucket_sessions.ts";
import { storableType } from "../session/storable_type.ts";
import type { SessionStorage } from "../session/session_storage.ts";
import type { BodyDestination } from "../sink/open_sink.ts";
import { Refusal } from "./problem.ts";
import type { Place, PlaceOptions, Storage } from "./storage.ts";

/** Files as objects of a bucket: their names are keys. */
export class BucketStorage implements Storage {
  readonly root: undefined = undefined;
  readonly #bucket: S3Bucket;

  constructor(bucket: S3Bucket) {
    this.#bucket = bucket;
  }

  async look(name: string): Promise<Place | undefined> {
    try {
      const object = await this.#bucket.head(name);
      return object && { mtimeMs: object.lastModified.getTime(), etag: object.etag };
    } catch (error) {
      throw this.explained(error, name);
    }
  }

  destination(name: string, { overwrite, contentType, signal }: PlaceOptions): BodyDestination {
    return this.#bucket.writable(name, {
      overwrite,
      contentType: storableType(contentType),
      ...(signal && { signal }),
    });
  }

  async takeBack(destinations: readonly BodyDestination[]): Promise<void> {
    for (const destination of destinations) {
      const { key, stored } = destination as ReturnType<S3Bucket["writable"]>;
      if (stored !== undefined) await this.#bucket.delete(key).catch(() => {}); // an earlier failure is the one to tell
    }
  }

  explained(error: unknown, name: string): unknown {
    const { name: kind, status, code } = (error ?? {}) as { name?: unknown; status?: unknown; code?: unknown };
    if (error instanceof RangeError) {
      return new UploadError("BAD_NAME", `${JSON.stringify(name)} can be no name here`, { cause: error });
    }
    if (kind !== "S3Error") return error;
    if (status === 412) {
      return new UploadError("EXISTS", `Cannot store ${JSON.stringify(name)}: there is a file of that name`, {
        cause: error,
      });
    }
    const isAnswered = typeof status === "number" && status >= 300 && status < 500 && status !== 429;
    if (isAnswered && code !== "NoSuchUpload") return error;
    return new Refusal("BUSY", "The storage cannot be reached: try again", { "Retry-After": "1" }, error);
  }

  sessions(): SessionStorage {
    return new BucketSessions(this.#bucket);
  }
}
