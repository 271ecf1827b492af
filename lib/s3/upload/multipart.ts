import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { conditionsOf, fieldsOf, type S3Object, type S3PutOptions, type S3Stored } from "../s3_object.ts";
import { bytesBody, CRC32_FIELD } from "../request/signed_request.ts";
import { isMissing } from "../request/failures.ts";
import { copySource, decoderOf, pagesOf, storeObject } from "../request/objects.ts";
import type { ReadAnswer, Store, StoreRequest } from "../request/store.ts";
import { escaped } from "../request/xml.ts";
import { S3Error } from "../s3_error.ts";
import type { GatheredPart } from "./gathered_part.ts";

export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  /** The part's CRC-32 in base64. */
  readonly checksum: string | undefined;
}

interface PartOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether all parts have checksums; not every store supports those of copied parts. Default: by the bucket. */
  readonly hasChecksums?: boolean;
}

interface BegunUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** Creates an upload; resolves to its id, without which it could not be removed: so an abort waits for the response. */
export async function createUpload(
  store: Store,
  key: string,
  fields: Readonly<Record<string, string>>,
  { signal, hasChecksums = store.checksums }: PartOptions = {},
): Promise<string> {
  const headers = { ...fields, ...(hasChecksums && { "x-amz-checksum-algorithm": "CRC32" }) };
  signal?.throwIfAborted();
  const request = { method: "POST", action: "begin", key, query: { uploads: "" }, headers, signal } as const;
  // Each attempt creates another upload: one with an unreadable response has no id here.
  const uploadId = await store.send({ ...request, isFinished: true, final: "MALFORMED_RESPONSE" }, async (answer) => {
    const id = (await answer.document("InitiateMultipartUploadResult")).text("UploadId");
    if (id) return id;
    throw answer.malformed("the store gave the upload no id");
  }).catch((error) => {
    signal?.throwIfAborted();
    throw error;
  });
  if (signal?.aborted) {
    await abortUpload(store, { key, uploadId }, ONCE).catch(() => {}); // the abort reason is thrown
    throw signal.reason;
  }
  return uploadId;
}

/** A CRC-32 in base64; other texts are a composite checksum, or invalid. */
const CRC32 = /^[\w+/]{6}==$/;

export async function putPart(
  store: Store,
  { key, uploadId }: BegunUpload,
  number: number,
  body: GatheredPart,
  { signal, hasChecksums = store.checksums }: PartOptions = {},
): Promise<StoredPart> {
  const checksum = hasChecksums ? body.crc32 : undefined;
  return await store.send({
    method: "PUT",
    action: `store part ${number} of`,
    key,
    query: { partNumber: String(number), uploadId },
    headers: checksum === undefined ? {} : { [CRC32_FIELD]: checksum },
    body,
    isBodyUnsigned: checksum !== undefined && !store.signsParts,
    signal,
  }, async (answer) => {
    await answer.end();
    if (checksum !== undefined) answer.requireChecksum(CRC32_FIELD, checksum);
    return { number, size: body.length, etag: answer.etag, checksum };
  });
}

/** Makes a part without a checksum from bytes of another object, which the store copies. */
export async function copyPart(
  store: Store,
  { key, uploadId }: BegunUpload,
  number: number,
  { key: from, etag, size: whole, start, end }:
    & Pick<S3Object, "key" | "etag" | "size">
    & Record<"start" | "end", number>,
  signal?: AbortSignal,
): Promise<StoredPart> {
  const size = end - start;
  return await store.send({
    method: "PUT",
    action: `copy part ${number} of`,
    key,
    query: { partNumber: String(number), uploadId },
    headers: {
      "x-amz-copy-source": copySource(store, from),
      "x-amz-copy-source-if-match": etag,
      ...(size < whole && { "x-amz-copy-source-range": `bytes=${start}-${end - 1}` }),
    },
    isSlow: true,
    signal,
  }, async (answer) => {
    return { number, size, etag: await answer.etagIn("CopyPartResult"), checksum: undefined };
  });
}

/** Lists the parts of an upload in the store, up to the first gap. */
export async function listParts(
  store: Store,
  { key, uploadId }: BegunUpload,
  signal?: AbortSignal,
): Promise<StoredPart[]> {
  const listed = pagesOf(store, {
    action: "list the parts of",
    key,
    query: { uploadId },
    document: "ListPartsResult",
    signal,
    entries: (page) => {
      return page.all("Part").map((part) => ({
        number: part.size("PartNumber"),
        size: part.size("Size"),
        etag: part.required("ETag"),
        checksum: CRC32.exec(part.text("ChecksumCRC32") ?? "")?.[0],
      }));
    },
    next: (page) => ({ "part-number-marker": page.required("NextPartNumberMarker") }),
  });
  const parts: StoredPart[] = [];
  for await (const part of listed) {
    if (part.number !== parts.length + 1) break;
    parts.push(part);
  }
  return parts;
}

export function listUploads(
  store: Store,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<BegunUpload & { readonly initiated: Date }> {
  return pagesOf(store, {
    action: "list uploads",
    query: { uploads: "", "encoding-type": "url", ...(prefix !== "" && { prefix }) },
    document: "ListMultipartUploadsResult",
    signal,
    entries(page) {
      const decode = decoderOf(page);
      return page.all("Upload").map((upload) => ({
        key: decode(upload.required("Key")),
        uploadId: upload.required("UploadId"), // without it, aborting an upload would delete the object
        initiated: new Date(upload.text("Initiated") ?? NaN),
      })).filter(({ key }) => key.startsWith(prefix)); // not every store supports prefixes
    },
    next: (page) => ({
      "key-marker": decoderOf(page)(page.required("NextKeyMarker")),
      "upload-id-marker": page.text("NextUploadIdMarker") ?? "",
    }),
  });
}

/** Makes an object of parts. After a lost response, the object shows whether it succeeded. */
export async function completeUpload(
  store: Store,
  { key, uploadId }: BegunUpload,
  parts: readonly StoredPart[],
  options: S3PutOptions,
  fields: Readonly<Record<string, string>> = fieldsOf(options),
): Promise<S3Stored> {
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const request = {
    method: "POST",
    action: "complete",
    key,
    query: { uploadId },
    headers: { "content-type": "application/xml", ...conditionsOf(options) },
    body: bytesBody(new TextEncoder().encode(documentOf(parts))),
    isSlow: true,
    signal: options.signal,
    isFinished: true,
  } as const;
  const read: ReadAnswer<string> = (answer) => answer.etagIn("CompleteMultipartUploadResult");
  // The entity tag of an object of parts, in most stores.
  const hash = createHash("md5");
  for (const { etag } of parts) hash.update(Buffer.from(etag.replaceAll('"', ""), "hex"));
  const tag = `"${hash.digest("hex")}-${parts.length}"`;
  const isOurs = (there: S3Object): boolean => there.size === size && there.etag === tag;
  const isUnknown = (error: unknown): boolean =>
    error instanceof S3Error && (isMissing(error) || error.status === undefined || error.status >= 500);
  return await storeObject(store, request, size, read, isOurs, isUnknown, fields);
}

/** Options of {@linkcode abortUpload} where a failure is to be reported: a silent store does not delay it again and again. */
export const ONCE = { final: "TIMEOUT" } as const;

export async function abortUpload(
  store: Store,
  { key, uploadId }: BegunUpload,
  options?: Pick<StoreRequest, "final" | "signal">,
): Promise<void> {
  try {
    const request = { method: "DELETE", action: "abort", key, query: { uploadId }, ...options } as const;
    await store.send(request, (answer) => answer.end());
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function documentOf(parts: readonly StoredPart[]): string {
  const list = parts.map(({ number, etag, checksum }) => {
    const sum = checksum && `<ChecksumCRC32>${checksum}</ChecksumCRC32>`;
    return `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag>${sum ?? ""}</Part>`;
  });
  const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
  return `<CompleteMultipartUpload xmlns="${namespace}">${list.join("")}</CompleteMultipartUpload>`;
}
