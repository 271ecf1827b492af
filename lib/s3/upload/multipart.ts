import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";
import { conditionsOf, fieldsOf, type S3PutOptions } from "../object_options.ts";
import { copySource, decoderOf, headObject } from "../request/objects.ts";
import { base64Of, bytesBody, type SentBody } from "../request/sent_body.ts";
import type { Store } from "../request/store.ts";
import { escaped } from "../request/xml.ts";
import { S3Error } from "../s3_error.ts";
import type { S3Stored } from "../s3_object.ts";

/** A part that the store has. */
export interface StoredPart {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  /** In base64, where the store tells it. */
  readonly sha256: string | undefined;
}

/** An upload in parts that was begun. */
export interface BegunUpload {
  readonly key: string;
  readonly uploadId: string;
  readonly initiated: Date;
}

/** Begins an upload in parts; resolves to its id. */
export async function createUpload(store: Store, key: string, options: S3PutOptions): Promise<string> {
  const headers = {
    ...fieldsOf(options),
    ...(store.checksums && { "x-amz-checksum-algorithm": "SHA256" }),
  };
  const { signal } = options;
  return await store.send(
    { method: "POST", action: "begin", key, query: { uploads: "" }, headers, signal },
    async (answer) => {
      const id = (await answer.document("InitiateMultipartUploadResult")).text("UploadId");
      if (id) return id;
      throw new S3Error("MALFORMED_RESPONSE", `The store gave the upload of ${JSON.stringify(key)} no id`, { key });
    },
  );
}

/** Sends a part. */
export async function putPart(
  store: Store,
  { key, uploadId }: Pick<BegunUpload, "key" | "uploadId">,
  number: number,
  body: SentBody,
  signal?: AbortSignal,
): Promise<StoredPart> {
  const sha256 = base64Of(body.sha256);
  return await store.send({
    method: "PUT",
    action: `store part ${number} of`,
    key,
    query: { partNumber: String(number), uploadId },
    headers: store.checksums ? { "x-amz-checksum-sha256": sha256 } : {},
    body,
    signal,
  }, async (answer) => {
    await answer.end();
    answer.requireChecksum(body.sha256);
    return { number, size: body.length, etag: answer.etag, sha256: store.checksums ? sha256 : undefined };
  });
}

/** Makes a part of bytes of another object, which the store copies. */
export async function copyPart(
  store: Store,
  { key, uploadId }: Pick<BegunUpload, "key" | "uploadId">,
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
    const copied = await answer.document("CopyPartResult");
    const etag = copied.text("ETag");
    if (etag === undefined) throw new S3Error("MALFORMED_RESPONSE", "The store told no ETag of a part", { key });
    return { number, size: source.end - source.start, etag, sha256: copied.text("ChecksumSHA256") };
  });
}

/** Lists the parts that the store has of an upload. */
export async function* listParts(
  store: Store,
  { key, uploadId }: Pick<BegunUpload, "key" | "uploadId">,
  signal?: AbortSignal,
): AsyncGenerator<StoredPart> {
  let marker: string | undefined;
  do {
    const query = { uploadId, ...(marker !== undefined && { "part-number-marker": marker }) };
    const page = await store.send(
      { method: "GET", action: "list the parts of", key, query, signal },
      (answer) => answer.document("ListPartsResult"),
    );
    for (const part of page.all("Part")) {
      yield {
        number: Number(part.text("PartNumber")),
        size: Number(part.text("Size")),
        etag: part.text("ETag") ?? "",
        sha256: part.text("ChecksumSHA256"),
      };
    }
    marker = page.text("IsTruncated") === "true" ? page.text("NextPartNumberMarker") : undefined;
  } while (marker !== undefined);
}

/** Lists the uploads that were begun and neither completed nor aborted. */
export async function* listUploads(store: Store, prefix: string, signal?: AbortSignal): AsyncGenerator<BegunUpload> {
  let markers: Record<string, string> | undefined = {};
  do {
    const query: Record<string, string> = { uploads: "", ...(prefix !== "" && { prefix }), ...markers };
    const page = await store.send(
      { method: "GET", action: "list uploads", query, signal },
      (answer) => answer.document("ListMultipartUploadsResult"),
    );
    const decode = decoderOf(page);
    for (const upload of page.all("Upload")) {
      yield {
        key: decode(upload.text("Key") ?? ""),
        uploadId: upload.text("UploadId") ?? "",
        initiated: new Date(upload.text("Initiated") ?? NaN),
      };
    }
    const next = page.text("NextKeyMarker");
    markers = page.text("IsTruncated") === "true" && next !== undefined
      ? { "key-marker": decode(next), "upload-id-marker": page.text("NextUploadIdMarker") ?? "" }
      : undefined;
  } while (markers !== undefined);
}

/**
 * Makes an object of parts. When an answer was lost, the object tells whether it succeeded.
 *
 * @throws {S3Error} if there is no such object now, as far as can be told.
 */
export async function completeUpload(
  store: Store,
  { key, uploadId }: Pick<BegunUpload, "key" | "uploadId">,
  parts: readonly StoredPart[],
  options: S3PutOptions,
): Promise<S3Stored> {
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const { signal } = options;
  try {
    const etag = await store.send({
      method: "POST",
      action: "complete",
      key,
      query: { uploadId },
      headers: { "content-type": "application/xml", ...conditionsOf(options) },
      body: bytesBody(new TextEncoder().encode(documentOf(parts))),
      isSlow: true,
      signal,
    }, async (answer) => (await answer.document("CompleteMultipartUploadResult")).text("ETag"));
    return { key, size, etag: etag ?? "" };
  } catch (error) {
    signal?.throwIfAborted();
    const isUnknown = error instanceof S3Error &&
      (error.code === "NoSuchUpload" || (error.status ?? 0) >= 500 || error.status === undefined);
    const there = isUnknown ? await headObject(store, key, signal).catch(() => undefined) : undefined;
    if (there === undefined || there.size !== size || there.etag !== joinedTag(parts)) throw error;
    return { key, size, etag: there.etag };
  }
}

/** Gives an upload up, with what the store has of it. */
export async function abortUpload(
  store: Store,
  { key, uploadId }: Pick<BegunUpload, "key" | "uploadId">,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await store.send({ method: "DELETE", action: "abort", key, query: { uploadId }, signal }, (answer) => answer.end());
  } catch (error) {
    if ((error as S3Error).code !== "NoSuchUpload") throw error;
  }
}

function documentOf(parts: readonly StoredPart[]): string {
  const list = parts.map(({ number, etag, sha256 }) => {
    const checksum = sha256 === undefined ? "" : `<ChecksumSHA256>${sha256}</ChecksumSHA256>`;
    return `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag>${checksum}</Part>`;
  });
  const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
  return `<CompleteMultipartUpload xmlns="${namespace}">${list.join("")}</CompleteMultipartUpload>`;
}

/** The entity tag that stores give an object of parts: the MD5 of theirs. */
function joinedTag(parts: readonly StoredPart[]): string {
  const hash = createHash("md5");
  for (const { etag } of parts) hash.update(Buffer.from(etag.replaceAll('"', ""), "hex"));
  return `"${hash.digest("hex")}-${parts.length}"`;
}
