import { objectStream } from "./object_readable.ts";
import { copySource, headObject, putObject } from "./request/objects.ts";
import { bytesBody } from "./request/signed_request.ts";
import type { Store } from "./request/store.ts";
import { S3Error } from "./s3_error.ts";
import { conditionsOf, fieldsOf, type S3Object, type S3PutOptions, type S3Stored } from "./s3_object.ts";
import { GatheredPart } from "./upload/gathered_part.ts";
import { abortUpload, completeUpload, copyPart, createUpload, putPart, type StoredPart } from "./upload/multipart.ts";
import { LEAST_SIZE, MOST_PARTS, type UploadContext } from "./upload/object_upload.ts";

/** Most bytes that one request copies. */
const MOST = 5 * 2 ** 30;
/** Bytes of the parts of larger objects. */
const PART = 2 ** 30;

/** Copies an object within the bucket, without its bytes coming here. */
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

async function copyWhole(
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
  const fields = {
    ...options,
    contentType: options.contentType ?? contentType,
    metadata: options.metadata ?? metadata,
  };
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

type JoinedObject = Pick<S3Object, "key" | "size" | "etag">;

/** Makes an object of others, in their order. The store copies what is large enough for a part; the rest passes through. */
export async function joinObjects(
  context: UploadContext,
  sources: readonly JoinedObject[],
  to: string,
  options: S3PutOptions,
): Promise<S3Stored> {
  const { store } = context;
  const parts = partsOf(sources.filter(({ size }) => size > 0));
  if (parts.length === 0) return await putObject(store, to, bytesBody(new Uint8Array()), options);
  const [first] = parts;
  if (parts.length === 1 && first.length === 1) return await copyWhole(store, first[0], to, options);
  if (parts.length > MOST_PARTS) throw new RangeError(`${parts.length} parts are more than an object may have`);
  const upload = { key: to, uploadId: await createUpload(store, to, options) };
  try {
    const stored: StoredPart[] = [];
    for (const part of parts) stored.push(await storePart(context, upload, stored.length + 1, part, options.signal));
    return await completeUpload(store, upload, stored, options);
  } catch (error) {
    await abortUpload(store, upload).catch(() => {}); // the first failure is the one to tell
    throw error;
  }
}

/** Which objects make each part: as few as a part needs. */
function partsOf(sources: readonly JoinedObject[]): JoinedObject[][] {
  const parts: JoinedObject[][] = [];
  let size = LEAST_SIZE;
  for (const source of sources) {
    if (size >= LEAST_SIZE) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)!.push(source);
    size += source.size;
  }
  return parts;
}

async function storePart(
  { store, storage }: UploadContext,
  upload: { readonly key: string; readonly uploadId: string },
  number: number,
  sources: readonly JoinedObject[],
  signal: AbortSignal | undefined,
): Promise<StoredPart> {
  const [{ key, size, etag }] = sources;
  if (sources.length === 1 && size >= LEAST_SIZE) {
    return await copyPart(store, upload, number, { key, etag, start: 0, end: size }, signal);
  }
  const part = new GatheredPart(number, storage, store.partChecksum);
  try {
    for (const source of sources) {
      const options = { ifMatch: source.etag, ...(signal && { signal }) };
      for await (const piece of objectStream(store, source.key, options)) await part.append(piece);
    }
    return await putPart(store, upload, number, part, signal);
  } finally {
    await part.discard();
  }
}
