import { bytesOf } from "../streams/internal.ts";
import { WritableStream } from "../streams/mod.ts";
import type { S3Stored } from "./s3_object.ts";
import type { ObjectUpload } from "./upload/object_upload.ts";

/** The high-water mark in bytes. */
const QUEUE = 64 * 1024;
const SMALL = 4096;

/**
 * An object as a WritableStream of bytes, created by `S3Bucket.writable()`. It is stored when the stream closes; until
 * then, and if the stream is aborted, readers of the key get the previous object. An abort during the last
 * request waits for its response: if the object is stored, `close()` succeeds.
 *
 * @example Note the upload, so that another process can resume it
 * ```ts
 * import { S3Bucket, type S3Writable } from "@millrace/streams/s3";
 *
 * const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
 * const bucket = new S3Bucket({ endpoint: "https://s3.example.com", bucket: "films", credentials });
 * const film: S3Writable = bucket.writable("a.mp4");
 * console.log(film.offset, film.uploadId); // 0 undefined
 * await film.abort();
 * ```
 */
export class S3Writable extends WritableStream<Uint8Array> {
  readonly #upload: ObjectUpload;
  readonly #stored: { value?: S3Stored };

  /** Takes over an upload: for `S3Bucket.writable()`. */
  constructor(upload: ObjectUpload, signal: AbortSignal | undefined) {
    const stored: { value?: S3Stored } = {};
    const onAbort = (): void => void upload.fail(signal!.reason).catch(() => {}); // the stream reports the reason
    const end = (): void => signal?.removeEventListener("abort", onAbort);
    let gathered: Uint8Array | undefined;
    let length = 0;
    const send = async (chunk: unknown): Promise<void> => {
      try {
        const bytes = bytesOf(chunk);
        if (bytes === undefined) {
          throw new TypeError("a chunk for an object must be a Uint8Array; encode text with a TextEncoderStream");
        }
        const given = bytes.length;
        if (length > 0) await upload.write(gathered!.subarray(0, length));
        length = 0;
        await upload.write(bytes, given);
      } catch (error) {
        await upload.fail(error).catch(() => {}); // an invalid chunk is the reason to report
        throw error;
      }
    };
    super({
      start(controller) {
        upload.signal.addEventListener("abort", () => {
          end();
          // During abort(), that would make it reject.
          if (!controller.signal.aborted) controller.error(upload.signal.reason);
          // A part failed in the background: further writes must fail.
          upload.fail(upload.signal.reason).catch(() => {}); // `removeAbandoned()` removes the parts that remain
        }, { once: true });
        controller.signal.addEventListener("abort", () => {
          upload.fail(controller.signal.reason).catch(() => {}); // abort() reports the failure
        }, { once: true });
        if (signal?.aborted) onAbort();
        else signal?.addEventListener("abort", onAbort);
      },
      write(chunk) {
        const size = ArrayBuffer.isView(chunk) && chunk instanceof Uint8Array ? chunk.length : 0;
        if (size === 0 || size >= SMALL || length + size > QUEUE) return send(chunk);
        (gathered ??= new Uint8Array(QUEUE)).set(chunk, length);
        length += size;
        return undefined; // without a promise for each chunk
      },
      async close() {
        if (length > 0) await upload.write(gathered!.subarray(0, length));
        stored.value = await upload.complete();
        end();
      },
      abort: (reason) => upload.fail(reason),
    }, {
      highWaterMark: QUEUE,
      // A failing size function would abort no upload.
      size: (chunk: unknown) => ArrayBuffer.isView(chunk) || chunk instanceof ArrayBuffer ? chunk.byteLength : 0,
    });
    this.#upload = upload;
    this.#stored = stored;
  }

  /** The object's key. */
  get key(): string {
    return this.#upload.key;
  }

  /** The store's id of the upload, for `S3Bucket.resume()`; undefined before a part is in the store. */
  get uploadId(): string | undefined {
    return this.#upload.uploadId;
  }

  /** The number of bytes in the store's parts, where writing continues after the upload was resumed. */
  get offset(): number {
    return this.#upload.stored.size;
  }

  /** The result, once the stream is closed. */
  get stored(): S3Stored | undefined {
    return this.#stored.value;
  }
}
