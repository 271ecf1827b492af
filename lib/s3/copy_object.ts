import { brokenFailure } from "./request/failures.ts";
import { bareTag, copySource, findObject, headObject, putObject, tagsOf } from "./request/objects.ts";
import { bytesBody } from "./request/signed_request.ts";
import type { Store } from "./request/store.ts";
import { S3Error } from "./s3_error.ts";
import { conditionsOf, fieldsOf, type S3Object, type S3PutOptions, type S3Stored } from "./s3_object.ts";
import { objectStream } from "./object_readable.ts";
import { GatheredPart } from "./upload/gathered_part.ts";
import {
  abortUpload,
  completeUpload,
  copyPart,
  createUpload,
  ONCE,
  putPart,
  type StoredPart,
} from "./upload/multipart.ts";
import { MAX_PARTS, MIN_PART_SIZE, partSizeFor, type UploadContext } from "./upload/object_upload.ts";

/** The maximum bytes of one copy request, and of a part. */
const MAX_COPY_SIZE = 5 * 2 ** 30;
/** The maximum bytes of a part when objects are joined, and when a larger object is copied. */
const PART = 2 ** 30;
/** The number of parts when objects of different sizes are joined, unless one is larger than {@linkcode PART}. */
const JOINED_PARTS = 256;
const AT_ONCE = 4;
/** The statuses of stores that do not support copies of parts; others treat them as an empty part. */
const UNKNOWN: readonly number[] = [400, 405, 501];

type Fields = Readonly<Record<string, string>>;
type JoinedObject = Pick<S3Object, "key" | "size" | "etag">;

export async function copyObject(
  context: UploadContext,
  from: string,
  to: string,
  options: S3PutOptions,
): Promise<S3Stored> {
  const { store } = context;
  const found = await findObject(store, from, options.signal);
  if (found === undefined) {
    const message = `Cannot copy ${JSON.stringify(from)} in the bucket ${store.bucket}: there is no such object`;
    throw new S3Error("NotFound", message, { status: 404, key: from });
  }
  const { object, fields } = found;
  const replaced = fieldsOf(options);
  const isAsItIs = options.metadata === undefined && Object.keys(replaced).length === 0;
  const kept = Object.entries(fields).filter(([name]) => {
    return options.metadata === undefined || !name.startsWith("x-amz-meta-");
  });
  const all = { ...Object.fromEntries(kept), ...replaced };
  return await copyOne(context, object, to, isAsItIs ? undefined : all, all, options);
}

/** Copies an object; with a condition, which few stores support on copies, by sending it or by copying its parts. */
async function copyOne(
  context: UploadContext,
  source: JoinedObject,
  to: string,
  changed: Fields | undefined,
  fields: Fields,
  options: S3PutOptions,
): Promise<S3Stored> {
  const { store } = context;
  const { key, size, etag } = source;
  const { signal } = options;
  if (size <= MAX_COPY_SIZE && Object.keys(conditionsOf(options)).length === 0) {
    const headers = {
      ...changed,
      "x-amz-copy-source": copySource(store, key),
      "x-amz-copy-source-if-match": etag,
      "x-amz-metadata-directive": changed === undefined ? "COPY" : "REPLACE",
    };
    const request = { method: "PUT", action: "copy to", key: to, headers, isSlow: true, signal } as const;
    const stored = await store.send(request, (answer) => answer.etagIn("CopyObjectResult"));
    if (bareTag(stored) !== bareTag(etag)) await requireUnchanged(store, [source], signal, to);
    return { key: to, size, etag: stored };
  }
  const all = { ...fields, ...await tagsOf(store, key, signal) };
  const parts = partsOf([source], size > MAX_COPY_SIZE ? PART : mixedSize(size));
  if (size > MIN_PART_SIZE) return await storeParts(context, parts, to, all, options);
  return await gathered(context, 1, parts.flat(), signal, (part) => putObject(store, to, part, options, all));
}

/** Joins objects in parts of one size, as R2 requires: bytes around the ends of objects are downloaded. */
export async function composeObject(
  context: UploadContext,
  sources: readonly JoinedObject[],
  to: string,
  options: S3PutOptions,
): Promise<S3Stored> {
  const filled = sources.filter(({ size }) => size > 0);
  if (filled.length === 0) return await putObject(context.store, to, bytesBody(new Uint8Array()), options);
  const fields = fieldsOf(options);
  if (filled.length === 1) return await copyOne(context, filled[0], to, fields, fields, options);
  return await storeParts(context, partsOf(filled, sizeFor(filled)), to, fields, options);
}

/** Returns the size of parts: that of the objects if possible, so that no bytes are downloaded. */
function sizeFor(sources: readonly JoinedObject[]): number {
  const [{ size }] = sources;
  const last = sources.at(-1)!;
  const isEven = sources.every((source) => source.size === size || source === last) && last.size <= size;
  if (isEven && sources.length <= MAX_PARTS && size >= MIN_PART_SIZE && size <= MAX_COPY_SIZE) return size;
  return mixedSize(sources.reduce((sum, source) => sum + source.size, 0));
}

function mixedSize(total: number): number {
  return Math.min(PART, partSizeFor(total, JOINED_PARTS));
}

interface Range extends JoinedObject {
  readonly start: number;
  readonly end: number;
}

function partsOf(sources: readonly JoinedObject[], most: number): Range[][] {
  const parts: Range[][] = [];
  let room = 0;
  for (const source of sources) {
    const { size } = source;
    for (let start = 0; start < size;) {
      if (room === 0) {
        parts.push([]);
        room = most;
      }
      const end = Math.min(size, start + room);
      parts.at(-1)!.push({ ...source, start, end });
      room -= end - start;
      start = end;
    }
  }
  return parts;
}

async function storeParts(
  context: UploadContext,
  parts: readonly (readonly Range[])[],
  to: string,
  fields: Fields,
  options: S3PutOptions,
): Promise<S3Stored> {
  const { store } = context;
  const { signal } = options;
  const upload = { key: to, uploadId: await createUpload(store, to, fields, { signal, hasChecksums: false }) };
  try {
    let stored: StoredPart[] = [];
    for (let done = 0; done < parts.length; done += AT_ONCE) {
      const some = parts.slice(done, done + AT_ONCE);
      const sent = some.map((ranges, index) => storePart(context, upload, done + index + 1, ranges, signal));
      await Promise.allSettled(sent); // an abort must come after all of them
      stored = stored.concat(await Promise.all(sent));
    }
    await requireUnchanged(store, new Map(parts.flat().map((range) => [range.key, range])).values(), signal);
    return await completeUpload(store, upload, stored, options, fields);
  } catch (error) {
    await abortUpload(store, upload, ONCE).catch(() => {}); // the first failure is the one to report
    throw error;
  }
}

/**
 * Checks that the sources of a copy are unchanged, as stores may ignore conditions. After a completed copy to the key
 * `to`, a source may also be missing, or be the copy itself.
 */
async function requireUnchanged(
  store: Store,
  sources: Iterable<JoinedObject>,
  signal: AbortSignal | undefined,
  to?: string,
): Promise<void> {
  const left = [...sources];
  while (left.length > 0) {
    await Promise.all(
      left.splice(0, AT_ONCE).map(async ({ key, size, etag }) => {
        const there = await headObject(store, key, signal);
        if (there === undefined ? to !== undefined : bareTag(there.etag) === bareTag(etag)) return;
        if (key === to && there?.size === size) return;
        throw brokenFailure(store.subjectOf({ action: "copy", key }), "OBJECT_CHANGED", "it was replaced or removed");
      }),
    );
  }
}

/** Makes the store copy a part that is within one object. Some stores copy no range of a small object, and others no part. */
async function storePart(
  context: UploadContext,
  upload: { readonly key: string; readonly uploadId: string },
  number: number,
  ranges: readonly Range[],
  signal: AbortSignal | undefined,
): Promise<StoredPart> {
  const { store } = context;
  const [{ start, end, size }] = ranges;
  if (ranges.length === 1 && (end - start === size || size > MIN_PART_SIZE)) {
    try {
      return await copyPart(store, upload, number, ranges[0], signal);
    } catch (error) {
      const { status, code } = error as Partial<S3Error>;
      if (code !== "MALFORMED_RESPONSE" && !UNKNOWN.includes(status!)) throw error;
    }
  }
  return await gathered(context, number, ranges, signal, (part) => {
    return putPart(store, upload, number, part, { signal, hasChecksums: false });
  });
}

async function gathered<T>(
  { store, storage }: UploadContext,
  number: number,
  ranges: readonly Range[],
  signal: AbortSignal | undefined,
  send: (part: GatheredPart) => Promise<T>,
): Promise<T> {
  const part = new GatheredPart(number, storage);
  try {
    for (const { key, etag, size, start, end } of ranges) {
      const range = end - start < size && { range: { start, end } };
      const options = { ...range, ifMatch: etag, ...(signal && { signal }) };
      for await (const piece of objectStream(store, key, options)) await part.append(piece);
    }
    return await send(part);
  } finally {
    await part.discard();
  }
}
