import { copyWhole } from "./copy_object.ts";
import type { S3PutOptions } from "./object_options.ts";
import { objectStream } from "./object_readable.ts";
import { putObject } from "./request/objects.ts";
import { bytesBody } from "./request/sent_body.ts";
import type { S3Object, S3Stored } from "./s3_object.ts";
import { GatheredPart } from "./upload/gathered_part.ts";
import { abortUpload, completeUpload, copyPart, createUpload, putPart, type StoredPart } from "./upload/multipart.ts";
import type { UploadContext } from "./upload/object_upload.ts";
import { LEAST_SIZE, MOST_PARTS } from "./upload/part_size.ts";

/** An object that is joined. */
export type JoinedObject = Pick<S3Object, "key" | "size" | "etag">;

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
