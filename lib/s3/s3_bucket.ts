import {
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
  type S3WritableSettings,
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
import {
  keepContext,
  MIN_PART_SIZE,
  ObjectUpload,
  type Resumed,
  Semaphore,
  type UploadContext,
} from "./upload/object_upload.ts";

type PresignOptions = NonNullable<Parameters<S3Bucket["presign"]>[1]>;

type FormOptions = Parameters<S3Bucket["presignPost"]>[1];

const DAY = 24 * 60 * 60 * 1000;
/** The prefix of the resumable uploads of `./upload`, which may go on for as long as they like, and expire by themselves. */
const SESSIONS = ".millrace-uploads/";
/** The longest that a signed URL holds, in seconds: a week. */
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
export const presignOptions: SchemaOf<PresignOptions, "method" | "expiresIn"> = /* @__PURE__ */ schema(
  "presign()",
  () => ({
    method: oneOf(["DELETE", "GET", "HEAD", "PUT"], "GET"),
    expiresIn: integer(1, MAX_EXPIRY, 3600),
    contentType: signedField(),
    cacheControl: signedField(),
    contentDisposition: signedField(),
    size: integer(0, Number.MAX_SAFE_INTEGER),
  }),
);
export const formOptions: SchemaOf<FormOptions, "expiresIn"> = /* @__PURE__ */ schema("presignPost()", () => ({
  maxSize: integer(0, Number.MAX_SAFE_INTEGER),
  expiresIn: integer(1, MAX_EXPIRY, 3600),
  contentType: signedField(),
  cacheControl: signedField(),
  contentDisposition: signedField(),
}));
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
 * Every request has a deadline and is sent again, after a pause, where that may help. The store holds what it receives
 * against a checksum: a CRC-32 of each part, and without TLS, but to this machine, a SHA-256. The reader holds what it
 * gets against a SHA-256 where the store tells one. Use one S3Bucket for all that a program does with a bucket: its
 * uploads share connections and memory.
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
   * Makes a bucket. It asks the store for nothing.
   *
   * @param options The bucket, and how it is spoken to.
   * @throws {TypeError | RangeError} if an option is not what it should be.
   */
  constructor(options: S3BucketOptions) {
    const settings = s3BucketOptions(options);
    const { concurrency, memory, temporary } = settings;
    this.#store = new Store(settings);
    this.name = this.#store.bucket;
    const storage = { blocks: new Blocks(memory), pages: [], temporary };
    this.#context = keepContext(this, { store: this.#store, storage, permits: new Semaphore(concurrency) });
  }

  /**
   * Stores bytes that are there already.
   *
   * @throws {S3Error} if the store refuses them, or cannot be reached; `PreconditionFailed` if a condition fails.
   */
  async put(key: string, body: Uint8Array | string, options: S3PutOptions = {}): Promise<S3Stored> {
    const settings = settingsOf(putOptions, options);
    if (typeof body !== "string" && !isUint8Array(body)) {
      throw new TypeError(`a body must be a string or a Uint8Array, not ${described(body)}`);
    }
    const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
    return await putObject(this.#store, key, bytesBody(bytes), settings);
  }

  /**
   * Tells the facts about an object.
   *
   * @returns undefined if there is none.
   * @throws {S3Error} if the store refuses that, or cannot be reached.
   */
  async head(key: string, options: { signal?: AbortSignal } = {}): Promise<S3Object | undefined> {
    return await headObject(this.#store, key, headOptions(options).signal);
  }

  /**
   * Reads an object, or a part of it, as a byte stream, which is requested on the first read. After a lost connection,
   * or silence for `timeout`, it continues from the last byte, if the object is still the same.
   *
   * @returns a stream that fails with an {@linkcode S3Error}, such as `NoSuchKey`.
   * @throws {TypeError | RangeError} if an option is not what it should be.
   */
  readable(key: string, options: S3ReadOptions = {}): ReadableStream<Uint8Array> {
    const settings = readOptions(options);
    objectPath(key);
    return objectStream(this.#store, key, settings);
  }

  /**
   * Lists objects in the order of their keys, by pages of what the store gives at a time.
   *
   * @param options.prefix The beginning of their keys. Default: none.
   * @param options.startAfter The key behind which it begins. `limit` is how many there are at most. Default: all.
   * @param options.delimiter The end of a folder's name, mostly `/`: of keys that have it behind the prefix, only their
   * beginning up to it is listed, once, as `{ prefix }`, behind the objects of its page. Default: none.
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
   * Removes an object, if it is there.
   *
   * @param options.ifMatch The entity tag that it must have, as `If-Match`; some stores don't know that. The request is not
   * sent again then: what another client has stored since must not be removed. Default: any.
   * @throws {S3Error} if the store refuses that, or cannot be reached; `PreconditionFailed` or `OBJECT_CHANGED` if it has
   * another tag.
   */
  async delete(key: string, options: { signal?: AbortSignal; ifMatch?: string } = {}): Promise<void> {
    await deleteObject(this.#store, key, deleteOptions(options));
  }

  /**
   * Copies an object within the bucket; its bytes do not come here, but for up to 5 MiB under a condition.
   *
   * @param options How the copy is stored. Default: as the object is, in all that is not given.
   * @throws {S3Error} `NotFound` if it is missing.
   */
  async copy(from: string, to: string, options: S3PutOptions = {}): Promise<S3Stored> {
    return await copyObject(this.#context, from, to, settingsOf(copyOptions, options));
  }

  /**
   * Makes an object of others, in their order, as `list()` and `head()` tell them. It is made in parts of one size,
   * each of which the store copies where it is within one object; the bytes where two meet pass through here. Objects
   * of one size, from 5 MiB to 5 GiB, need no bytes to pass.
   *
   * @param options How the object is stored. Default: without a type or metadata.
   * @throws {S3Error} `PreconditionFailed` if one of them is another by now.
   */
  async join(
    sources: readonly Pick<S3Object, "key" | "size" | "etag">[],
    to: string,
    options: S3PutOptions = {},
  ): Promise<S3Stored> {
    return await composeObject(this.#context, sources, to, settingsOf(joinOptions, options));
  }

  /**
   * Makes a URL whose holder may read or store an object for a while.
   *
   * @param options.method The method that it is for. Default: GET.
   * @param options.expiresIn How long it holds, in seconds, a week at most. Default: 3600.
   * @param options.contentType The field of the response to GET; of PUT, the one that has to be sent. `cacheControl` and
   * `contentDisposition` likewise.
   * @param options.size How many bytes a PUT must have: its `Content-Length` is signed. Default: any.
   * @throws {TypeError | RangeError} if an option is not what it should be, or has no effect with the method.
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
   * Makes a form by which a browser may store an object for a while, of a limited size: a `POST` to `url` with
   * `fields`, and behind them the file as `file`.
   *
   * @param options.maxSize The most bytes that the object may have.
   * @param options.expiresIn How long it holds, in seconds, a week at most. Default: 3600.
   * @param options.contentType The field that the object is stored with. `cacheControl` and `contentDisposition` likewise.
   * @throws {TypeError | RangeError} if an option is not what it should be.
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
   * Makes a stream that stores an object of any length when it is closed. What fits into one part is sent in one
   * request; larger ones go in parts of one size, 8 MiB or what `size` asks for, several at a time, each sent again by
   * itself. When the stream is aborted or a part fails for good, nothing of it is left, if the store can be reached.
   *
   * @throws {TypeError | RangeError} if an option is not what it should be.
   */
  writable(key: string, options: S3WritableOptions = {}): S3Writable {
    const settings = settingsOf(writableOptions, options);
    objectPath(key);
    return this.#writable(key, settings);
  }

  /**
   * Goes on with an upload that another stream began, in this process or another that is gone: write from its `offset`
   * on. Close it with the options that it was begun with.
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
    return this.#writable(key, settings, { uploadId, parts: isLastSmall ? parts.slice(0, -1) : parts });
  }

  /**
   * Removes what uploads have left in the store that were neither completed nor aborted: as by killed processes. What
   * the upload handler keeps of resumable uploads stays: it removes that itself.
   *
   * @param options.olderThan How long ago they must have begun, in ms: longer than any upload takes. Default: a day.
   * @param options.prefix The beginning of their keys. Default: none.
   * @returns how many there were.
   */
  async removeAbandoned(options: { olderThan?: number; prefix?: string; signal?: AbortSignal } = {}): Promise<number> {
    const { olderThan, prefix, signal } = removeOptions(options);
    const end = Date.now() - olderThan;
    let removed = 0;
    for await (const upload of listUploads(this.#store, prefix, signal)) {
      const isSession = upload.key.startsWith(SESSIONS) && !prefix.startsWith(SESSIONS);
      if (isSession || !(upload.initiated.getTime() <= end)) continue;
      await abortUpload(this.#store, upload, signal);
      removed++;
    }
    return removed;
  }

  /** Ends connections. Requests under way fail with `CLOSED`. */
  close(): Promise<void> {
    this.#store.close();
    return Promise.resolve();
  }

  /** Closes the bucket, like {@link close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #writable(key: string, settings: S3WritableSettings, resumed?: Resumed): S3Writable {
    return new S3Writable(new ObjectUpload(key, this.#context, settings, resumed), settings.signal);
  }
}
