import { conditionsOf, fieldsOf, type S3PutOptions } from "./object_options.ts";
import { copySource, headObject } from "./request/objects.ts";
import type { Store } from "./request/store.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Object, S3Stored } from "./s3_object.ts";
import { abortUpload, completeUpload, copyPart, createUpload, type StoredPart } from "./upload/multipart.ts";

/** Most bytes that one request copies. */
const MOST = 5 * 2 ** 30;
/** Bytes of the parts of larger objects. */
const PART = 2 ** 30;

/**
 * Copies an object within the bucket, without its bytes coming here.
 *
 * @throws {S3Error} `NotFound` if it is missing.
 */
export async function copyObject(store: Store, from: string, to: string, options: S3PutOptions): Promise<S3Stored> {
  const source = await headObject(store, from, options.signal);
  if (source === undefined) {
    const message = `Cannot copy ${JSON.stringify(from)} in the bucket ${store.bucket}: there is no such object`;
    throw new S3Error("NotFound", message, { status: 404, key: from });
  }
  return source.size <= MOST
    ? await copyWhole(store, source, to, options)
    : await copyParts(store, source, to, options);
}

/** Copies an object in one request. */
export async function copyWhole(
  store: Store,
  source: Pick<S3Object, "key" | "size" | "etag">,
  to: string,
  options: S3PutOptions,
): Promise<S3Stored> {
  const fields = fieldsOf(options);
  const isAsItIs = Object.keys(fields).length === 0;
  let isRepeated = false;
  try {
    return await store.send({
      method: "PUT",
      action: "copy to",
      key: to,
      headers: {
        ...fields,
        ...conditionsOf(options),
        "x-amz-copy-source": copySource(store, source.key),
        "x-amz-copy-source-if-match": source.etag,
        "x-amz-metadata-directive": isAsItIs ? "COPY" : "REPLACE",
      },
      isSlow: true,
      signal: options.signal,
      onRetry: () => isRepeated = true,
    }, async (answer) => {
      const etag = (await answer.document("CopyObjectResult")).text("ETag");
      if (!etag) throw answer.malformed("the store told no ETag of the copy");
      return { key: to, size: source.size, etag };
    });
  } catch (error) {
    // An attempt whose answer was lost may have met the condition, which the next one could not then.
    const isOurs = isRepeated && (error as S3Error).code === "PreconditionFailed";
    const there = isOurs ? await headObject(store, to, options.signal) : undefined;
    if (there === undefined || there.etag !== source.etag || there.size !== source.size) throw error;
    return { key: to, size: there.size, etag: there.etag };
  }
}

async function copyParts(store: Store, source: S3Object, to: string, options: S3PutOptions): Promise<S3Stored> {
  const { key, size, etag, contentType, metadata } = source;
  const fields = { ...(contentType !== undefined && { contentType }), ...(metadata && { metadata }), ...options };
  const upload = { key: to, uploadId: await createUpload(store, to, fields) };
  try {
    const parts: StoredPart[] = [];
    for (let start = 0; start < size; start += PART) {
      const range = { key, etag, start, end: Math.min(size, start + PART) };
      parts.push(await copyPart(store, upload, parts.length + 1, range, options.signal));
    }
    return await completeUpload(store, upload, parts, options);
  } catch (error) {
    await abortUpload(store, upload).catch(() => {}); // the first failure is the one to tell
    throw error;
  }
}
