import {
  bytesOf,
  described,
  integer,
  isUint8Array,
  number,
  oneOf,
  requireOption,
  schema,
  type SchemaOf,
  signal,
  text,
} from "../streams/internal.ts";
import type { ReadableStream } from "../streams/mod.ts";
import { composeObject, copyObject } from "./copy_object.ts";
import { objectStream, readOptions, type S3ReadOptions } from "./object_readable.ts";
import {
  copyOptions,
  fieldsOf,
  joinOptions,
  putOptions,
  resumeOptions,
  type S3Object,
  type S3PutOptions,
  type S3Stored,
  type S3WritableOptions,
  settingsOf,
  signedField,
  writableOptions,
} from "./s3_object.ts";
import { deleteObject, headObject, listObjects, type ListOptions, putObject } from "./request/objects.ts";
import { bytesBody, objectPath } from "./request/signed_request.ts";
import { Store } from "./request/store.ts";
import { type S3BucketOptions, s3BucketOptions } from "./s3_bucket_options.ts";
import { S3Writable } from "./s3_writable.ts";
import { Blocks } from "./upload/gathered_part.ts";
import { abortUpload, listParts, listUploads } from "./upload/multipart.ts";
import { contexts, MIN_PART_SIZE, ObjectUpload, Semaphore, type UploadContext } from "./upload/object_upload.ts";

const DAY = 24 * 60 * 60 * 1000;
/** The prefix of resumable uploads of `./upload`, which may last any time, and expire separately. */
const SESSIONS = ".millrace-uploads/";
/** The maximum validity of a signed URL in seconds: a week. */
const MAX_EXPIRY = 7 * 24 * 60 * 60;

export const headOptions: SchemaOf<{ signal?: AbortSignal }> = /* @__PURE__ */ schema(
  "head()",
  () => ({ signal: signal() }),
);
export const deleteOptions: SchemaOf<{ signal?: AbortSignal; ifMatch?: string }> = /* @__PURE__ */ schema(
  "delete()",
  () => ({ signal: signal(), ifMatch: signedField() }),
);
export const listOptions: SchemaOf<ListOptions, "prefix" | "limit"> = /* @__PURE__ */ schema("list()", () => ({
  prefix: text(""),
  delimiter: text(undefined, "a text that is not empty", (value) => value !== ""),
  startAfter: text(),
  limit: integer(1, Infinity, Infinity),
  signal: signal(),
}));
const presigned = () => ({
  expiresIn: integer(1, MAX_EXPIRY, 3600),
  contentType: signedField(),
  cacheControl: signedField(),
  contentDisposition: signedField(),
});
export const presignOptions: SchemaOf<
  NonNullable<Parameters<S3Bucket["presign"]>[1]>,
  "method" | "expiresIn"
> = /* @__PURE__ */ schema("presign()", () => ({
  ...presigned(),
  method: oneOf(["DELETE", "GET", "HEAD", "PUT"], "GET"),
  size: integer(0, Number.MAX_SAFE_INTEGER),
}));
export const formOptions: SchemaOf<Parameters<S3Bucket["presignPost"]>[1], "expiresIn"> = /* @__PURE__ */ schema(
  "presignPost()",
  () => ({ ...presigned(), maxSize: integer(0, Number.MAX_SAFE_INTEGER) }),
);
export const removeOptions: SchemaOf<
  { olderThan?: number; prefix?: string; signal?: AbortSignal },
  "olderThan" | "prefix"
> = /* @__PURE__ */ schema("removeAbandoned()", () => ({
  olderThan: number(0, Infinity, DAY),
  prefix: text(""),
  signal: signal(),
}));

/**
 * A bucket of a store that speaks the S3 protocol: objects as streams, in constant memory.
 *
 * Every request has a deadline, and is retried after a pause if that may help; checksums verify what is stored and read.
 * Use one S3Bucket for all operations of a program on a bucket: its uploads share connections and memory.
 *
 * @example Store, read and list
 * ```ts
 * import { S3Bucket } from "@millrace/streams/s3";
 *
 * const bucket = new S3Bucket({
 *   endpoint: "https://s3.example.com",
 *   bucket: "films",
 *   credentials: { accessKeyId: "id", secretAccessKey: "secret" },
 * });
 * await new Blob(["as long as it is"]).stream().pipeTo(bucket.writable("2026/a.mp4"));
 * console.log(await new Response(bucket.readable("2026/a.mp4", { range: { start: 0, end: 7 } })).text()); // as long
 * for await (const { key, size } of bucket.list({ prefix: "2026/" })) console.log(key, size); // 2026/a.mp4 16
 * await bucket.close();
 * ```
 *
 * @see {@link https://docs.aws.amazon.com/AmazonS3/latest/API/}
 */
export class S3Bucket {
  /** The bucket's name. */
  readonly name: string;
  readonly #store: Store;
  readonly #context: UploadContext;

  /**
   * Creates the object for a bucket, without a request to the store.
   *
   * @param options The bucket, its store, and the options for requests.
   * @throws {TypeError | RangeError} if an option is missing, of the wrong type or out of range.
   */
  constructor(options: S3BucketOptions) {
    const settings = s3BucketOptions(options);
    const { concurrency, memory, temporary } = settings;
    this.#store = new Store(settings);
    this.name = this.#store.bucket;
    const storage = { blocks: new Blocks(memory), temporary };
    this.#context = { store: this.#store, storage, permits: new Semaphore(concurrency) };
    contexts.set(this, this.#context);
  }

  /**
   * Stores bytes in memory as an object.
   *
   * @throws {S3Error} if the store refuses, or cannot be reached; `PreconditionFailed` if a condition fails.
   */
  async put(key: string, body: Uint8Array | string, options: S3PutOptions = {}): Promise<S3Stored> {
    const settings = settingsOf(putOptions, options);
    if (typeof body !== "string" && !isUint8Array(body)) {
      throw new TypeError(`a body must be a string or a Uint8Array, not ${described(body)}`);
    }
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : bytesOf(body)!;
    return await putObject(this.#store, key, bytesBody(bytes), settings);
  }

  /**
   * Returns the properties of an object.
   *
   * @returns the properties, or undefined if there is no such object.
   * @throws {S3Error} if the store refuses, or cannot be reached.
   */
  async head(key: string, options: { signal?: AbortSignal } = {}): Promise<S3Object | undefined> {
    return await headObject(this.#store, key, headOptions(options).signal);
  }

  /**
   * Reads an object, or a part of it, as a byte stream, requested at the first read. After a lost connection, or
   * silence for `timeout`, it continues from the last byte, if the object has not changed.
   *
   * @returns a stream that fails with an {@linkcode S3Error}, such as `NoSuchKey`.
   * @throws {TypeError | RangeError} if an option is of the wrong type or out of range.
   */
  readable(key: string, options: S3ReadOptions = {}): ReadableStream<Uint8Array> {
    const settings = readOptions(options);
    objectPath(key);
    return objectStream(this.#store, key, settings);
  }

  /**
   * Lists objects in the order of their keys, in pages of the size that the store chooses.
   *
   * @param options.prefix The required beginning of keys. Default: none.
   * @param options.startAfter The key after which the list begins. `limit`: the maximum number of objects. Default:
   * all.
   * @param options.delimiter The separator of folders, usually `/`: keys with it after the prefix are listed only once,
   * as `{ prefix }` with their beginning up to the separator, after the objects of its page. Default: none.
   */
  list(
    options?: { prefix?: string; startAfter?: string; limit?: number; signal?: AbortSignal },
  ): AsyncIterableIterator<S3Object>;
  /** Lists the objects of one folder, and the folders in it. */
  list(
    options: { delimiter: string; prefix?: string; startAfter?: string; limit?: number; signal?: AbortSignal },
  ): AsyncIterableIterator<S3Object | { readonly prefix: string }>;
  list(options: ListOptions = {}): AsyncIterableIterator<S3Object> {
    return listObjects(this.#store, listOptions(options)) as AsyncIterableIterator<S3Object>;
  }

  /**
   * Removes an object, if it exists.
   *
   * @param options.ifMatch The entity tag that it must have, as `If-Match`, which some stores do not support. The
   * request is then not retried, since it could remove another client's later object. Default: any.
   * @throws {S3Error} if the store refuses, or cannot be reached; `PreconditionFailed` or `OBJECT_CHANGED` if it has
   * another tag.
   */
  async delete(key: string, options: { signal?: AbortSignal; ifMatch?: string } = {}): Promise<void> {
    await deleteObject(this.#store, key, deleteOptions(options));
  }

  /**
   * Copies an object within the bucket. Its bytes are not downloaded, except up to 5 MiB with a condition.
   *
   * @param options The options of the copy. Default: the properties of the object.
   * @throws {S3Error} `NotFound` if the object is missing, `OBJECT_CHANGED` if it is replaced meanwhile.
   */
  async copy(from: string, to: string, options: S3PutOptions = {}): Promise<S3Stored> {
    return await copyObject(this.#context, from, to, settingsOf(copyOptions, options));
  }

  /**
   * Joins objects in order, given as results of `list()` or `head()`. Bytes are downloaded only where two objects meet
   * within a part: not for up to 10,000 objects of equal size, from 5 MiB to 5 GiB.
   *
   * @param options The options of the new object. Default: without a type or metadata.
   * @throws {S3Error} `PreconditionFailed` or `OBJECT_CHANGED` if one of them has changed.
   */
  async join(
    sources: readonly Pick<S3Object, "key" | "size" | "etag">[],
    to: string,
    options: S3PutOptions = {},
  ): Promise<S3Stored> {
    return await composeObject(this.#context, sources, to, settingsOf(joinOptions, options));
  }

  /**
   * Returns a URL that permits its holder to read or store an object for a limited time.
   *
   * @param options.method The permitted method. Default: GET.
   * @param options.expiresIn The validity in seconds, at most a week. Default: 3600.
   * @param options.contentType The header field of the response to GET, or the required field of the PUT; so are
   * `cacheControl` and `contentDisposition`.
   * @param options.size The required size of a PUT in bytes: its `Content-Length` is signed. Default: any.
   * @throws {TypeError | RangeError} if an option is invalid, or has no effect with the method.
   */
  async presign(
    key: string,
    options:
      & { method?: "DELETE" | "GET" | "HEAD" | "PUT"; expiresIn?: number; size?: number }
      & Pick<S3PutOptions, "contentType" | "cacheControl" | "contentDisposition"> = {},
  ): Promise<string> {
    const { method, expiresIn, size, ...others } = presignOptions(options);
    const fields = fieldsOf(others);
    const isWrite = method === "PUT";
    if (size !== undefined && !isWrite) throw new TypeError(`size is no option where method is ${method}`);
    const [field] = Object.keys(fields);
    if (field !== undefined && method === "DELETE") throw new TypeError(`no ${field} goes with DELETE`);
    const overrides = Object.entries(fields).map(([name, value]) => [`response-${name}`, value]);
    return await this.#store.presigned({
      method,
      action: "presign",
      key,
      query: { "X-Amz-Expires": String(expiresIn), ...(!isWrite && Object.fromEntries(overrides)) },
      headers: isWrite ? { ...fields, ...(size !== undefined && { "content-length": String(size) }) } : {},
    });
  }

  /**
   * Returns a form that permits a browser to store an object of limited size for a limited time: a `POST` to `url` with
   * `fields`, followed by the file as `file`.
   *
   * @param options.maxSize The maximum bytes of the object.
   * @param options.expiresIn The validity in seconds, at most a week. Default: 3600.
   * @param options.contentType The header field stored with the object; so are `cacheControl` and `contentDisposition`.
   * @throws {TypeError | RangeError} if an option is of the wrong type or out of range.
   */
  async presignPost(
    key: string,
    options:
      & { maxSize: number; expiresIn?: number }
      & Pick<S3PutOptions, "contentType" | "cacheControl" | "contentDisposition">,
  ): Promise<{ url: string; fields: Record<string, string> }> {
    const settings = formOptions(options);
    const maxSize = requireOption(formOptions, settings, "maxSize");
    objectPath(key);
    const fields = { key, ...fieldsOf(settings) };
    return await this.#store.presignedForm(fields, [["content-length-range", 0, maxSize]], settings.expiresIn);
  }

  /**
   * Creates a stream that stores an object of any length when it closes, in parts if it is larger than 8 MiB. If the
   * stream is aborted or a part finally fails, its parts are removed, if the store can be reached.
   *
   * @throws {TypeError | RangeError} if an option is of the wrong type or out of range.
   */
  writable(key: string, options: S3WritableOptions = {}): S3Writable {
    const settings = settingsOf(writableOptions, options);
    objectPath(key);
    return new S3Writable(new ObjectUpload(key, this.#context, settings), settings.signal);
  }

  /**
   * Resumes an upload that another stream began, in this process or an ended one: write the bytes from its `offset` on.
   * Pass the same options as for that stream.
   *
   * @param uploadId The `uploadId` of that stream.
   * @returns the stream. A last part that is smaller than the first is sent again.
   * @throws {S3Error} `NoSuchUpload` if it was completed, aborted or removed.
   */
  async resume(key: string, uploadId: string, options: S3WritableOptions = {}): Promise<S3Writable> {
    const settings = settingsOf(resumeOptions, options);
    if (typeof uploadId !== "string" || uploadId === "") {
      throw new TypeError(`uploadId must be the name of an upload, not ${described(uploadId)}`);
    }
    const parts = await listParts(this.#store, { key, uploadId }, settings.signal);
    const isLastSmall = (parts.at(-1)?.size ?? Infinity) < Math.max(MIN_PART_SIZE, parts[0]?.size ?? 0);
    const resumed = { uploadId, parts: isLastSmall ? parts.slice(0, -1) : parts };
    return new S3Writable(new ObjectUpload(key, this.#context, settings, resumed), settings.signal);
  }

  /**
   * Removes the parts of uploads that were neither completed nor aborted, for example by killed processes. The upload
   * handler's resumable uploads stay, since it removes them itself.
   *
   * @param options.olderThan The minimum age of an upload in ms, longer than any upload takes. Default: a day.
   * @param options.prefix The required beginning of keys. Default: none.
   * @returns the number of removed uploads.
   */
  async removeAbandoned(options: { olderThan?: number; prefix?: string; signal?: AbortSignal } = {}): Promise<number> {
    const { olderThan, prefix, signal } = removeOptions(options);
    const end = Date.now() - olderThan;
    let removed = 0;
    for await (const upload of listUploads(this.#store, prefix, signal)) {
      const isSession = upload.key.startsWith(SESSIONS) && !prefix.startsWith(SESSIONS);
      if (isSession || !(upload.initiated.getTime() <= end)) continue;
      await abortUpload(this.#store, upload, { signal });
      removed++;
    }
    return removed;
  }

  /** Closes the connections. Unfinished requests fail with `CLOSED`. */
  close(): Promise<void> {
    this.#store.close();
    return Promise.resolve();
  }

  /** Closes the bucket, like {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
