import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { conditionsOf, type S3PutOptions, type S3Stored } from "../s3_object.ts";
import {
  bytesBody,
  type CheckedBody,
  type Checksum,
  checksumField,
  type ChecksumKind,
} from "../request/signed_request.ts";
import { isMissing } from "../request/failures.ts";
import { copySource, decoderOf, headObject, pagesOf } from "../request/objects.ts";
import type { Store } from "../request/store.ts";
import { type Answered, escaped } from "../request/xml.ts";
import { S3Error } from "../s3_error.ts";

export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  readonly checksum: Checksum | undefined;
}

interface PartOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether parts have checksums, all of them; not every store knows those of copied ones. Default: by the bucket. */
  readonly hasChecksums?: boolean;
}

interface BegunUpload {
  readonly key: string;
  readonly uploadId: string;
}

/** Begins an upload; resolves to its id, without which it could not be removed: an abort waits for the answer. */
export async function createUpload(
  store: Store,
  key: string,
  fields: Readonly<Record<string, string>>,
  { signal, hasChecksums = store.checksums }: PartOptions = {},
): Promise<string> {
  const headers = { ...fields, ...(hasChecksums && { "x-amz-checksum-algorithm": store.partChecksum }) };
  signal?.throwIfAborted();
  const uploadId = await store.send(
    { method: "POST", action: "begin", key, query: { uploads: "" }, headers, signal, isFinished: true },
    async (answer) => {
      const id = (await answer.document("InitiateMultipartUploadResult")).text("UploadId");
      if (id) return id;
      throw answer.malformed("the store gave the upload no id");
    },
  );
  if (signal?.aborted) {
    await abortUpload(store, { key, uploadId }).catch(() => {}); // the abort reason is thrown
    throw signal.reason;
  }
  return uploadId;
}

/** The kinds of checksums, and what each looks like: another is that of an object of parts, or none. */
const CHECKSUMS = new Map<ChecksumKind, RegExp>([["CRC32", /^[\w+/]{6}==$/], ["SHA256", /^[\w+/]{43}=$/]]);

/** Sends a part. Its checksum must be of the kind that the upload was begun with. */
export async function putPart(
  store: Store,
  { key, uploadId }: BegunUpload,
  number: number,
  body: CheckedBody,
  { signal, hasChecksums = store.checksums }: PartOptions = {},
): Promise<StoredPart> {
  const checksum = await body.checksum();
  return await store.send({
    method: "PUT",
    action: `store part ${number} of`,
    key,
    query: { partNumber: String(number), uploadId },
    headers: hasChecksums ? checksumField(checksum) : {},
    body,
    // An upload that is resumed here may have been begun where a CRC-32 will do.
    isBodyUnsigned: checksum.kind === "CRC32" && store.partChecksum === "CRC32",
    signal,
  }, async (answer) => {
    await answer.end();
    answer.requireChecksum(checksum);
    return { number, size: body.length, etag: answer.etag, checksum: hasChecksums ? checksum : undefined };
  });
}

/** Makes a part without a checksum of bytes of another object, which the store copies. */
export async function copyPart(
  store: Store,
  { key, uploadId }: BegunUpload,
  number: number,
  source: { readonly key: string; readonly etag: string; readonly start: number; readonly end: number },
  signal?: AbortSignal,
): Promise<StoredPart> {
  return await store.send({
    method: "PUT",
    action: `copy part ${number} of`,
    key,
    query: { partNumber: String(number), uploadId },
    headers: {
      "x-amz-copy-source": copySource(store, source.key),
      "x-amz-copy-source-if-match": source.etag,
      "x-amz-copy-source-range": `bytes=${source.start}-${source.end - 1}`,
    },
    isSlow: true,
    signal,
  }, async (answer) => {
    const etag = (await answer.document("CopyPartResult")).text("ETag");
    if (!etag) throw answer.malformed("the store told no ETag of the part");
    return { number, size: source.end - source.start, etag, checksum: undefined };
  });
}

export interface StoredParts {
  readonly parts: readonly StoredPart[];
  /** The kind of checksums that the upload was begun with, where the store tells it. */
  readonly checksum: ChecksumKind | undefined;
}

/** Lists the parts that the store has of an upload, up to the first gap. */
export async function listParts(
  store: Store,
  { key, uploadId }: BegunUpload,
  signal?: AbortSignal,
): Promise<StoredParts> {
  let checksum: ChecksumKind | undefined;
  const listed = pagesOf(store, {
    action: "list the parts of",
    key,
    query: { uploadId },
    document: "ListPartsResult",
    signal,
    entries: (page) => {
      const algorithm = page.text("ChecksumAlgorithm");
      checksum ??= [...CHECKSUMS.keys()].find((kind) => kind === algorithm);
      return page.all("Part").map((part) => ({
        number: part.size("PartNumber"),
        size: part.size("Size"),
        etag: part.required("ETag"),
        checksum: toldChecksum(part),
      }));
    },
    next: (page) => ({ "part-number-marker": page.required("NextPartNumberMarker") }),
  });
  const parts: StoredPart[] = [];
  for await (const part of listed) {
    if (part.number !== parts.length + 1) break;
    parts.push(part);
  }
  return { parts, checksum: parts[0]?.checksum?.kind ?? checksum };
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
        uploadId: upload.required("UploadId"), // without it, to abort an upload would be to delete an object
        initiated: new Date(upload.text("Initiated") ?? NaN),
      })).filter(({ key }) => key.startsWith(prefix)); // not every store knows prefixes
    },
    next: (page) => ({
      "key-marker": decoderOf(page)(page.required("NextKeyMarker")),
      "upload-id-marker": page.text("NextUploadIdMarker") ?? "",
    }),
  });
}

/** Makes an object of parts. When an answer was lost, the object tells whether it succeeded. */
export async function completeUpload(
  store: Store,
  { key, uploadId }: BegunUpload,
  parts: readonly StoredPart[],
  options: S3PutOptions,
): Promise<S3Stored> {
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const { signal } = options;
  let isRepeated = false;
  try {
    return await store.send({
      method: "POST",
      action: "complete",
      key,
      query: { uploadId },
      headers: { "content-type": "application/xml", ...conditionsOf(options) },
      body: bytesBody(new TextEncoder().encode(documentOf(parts))),
      isSlow: true,
      signal,
      onRetry: () => isRepeated = true,
    }, async (answer) => {
      const etag = (await answer.document("CompleteMultipartUploadResult")).text("ETag");
      if (!etag) throw answer.malformed("the store told no ETag of the object");
      return { key, size, etag };
    });
  } catch (error) {
    signal?.throwIfAborted();
    // An attempt whose answer was lost may have met the condition, which the next one could not then.
    const isUnknown = error instanceof S3Error &&
      (isMissing(error) || (error.status ?? 0) >= 500 || error.status === undefined ||
        (isRepeated && error.code === "PreconditionFailed"));
    const there = isUnknown ? await headObject(store, key, signal).catch(() => undefined) : undefined;
    if (there === undefined || there.size !== size || there.etag !== joinedTag(parts)) throw error;
    return { key, size, etag: there.etag };
  }
}

export async function abortUpload(store: Store, { key, uploadId }: BegunUpload, signal?: AbortSignal): Promise<void> {
  try {
    await store.send({ method: "DELETE", action: "abort", key, query: { uploadId }, signal }, (answer) => answer.end());
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** The checksum of a part in an entry of an answer, which is sent back when the upload is completed. */
function toldChecksum(entry: Answered): Checksum | undefined {
  for (const [kind, form] of CHECKSUMS) {
    const base64 = entry.text(`Checksum${kind}`);
    if (base64 !== undefined && form.test(base64)) return { kind, base64 };
  }
  return undefined;
}

function documentOf(parts: readonly StoredPart[]): string {
  const list = parts.map(({ number, etag, checksum }) => {
    const sum = checksum && `<Checksum${checksum.kind}>${escaped(checksum.base64)}</Checksum${checksum.kind}>`;
    return `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag>${sum ?? ""}</Part>`;
  });
  const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
  return `<CompleteMultipartUpload xmlns="${namespace}">${list.join("")}</CompleteMultipartUpload>`;
}

/** Returns the entity tag that stores give an object of parts: the MD5 of the parts' tags. */
function joinedTag(parts: readonly StoredPart[]): string {
  const hash = createHash("md5");
  for (const { etag } of parts) hash.update(Buffer.from(etag.replaceAll('"', ""), "hex"));
  return `"${hash.digest("hex")}-${parts.length}"`;
}
