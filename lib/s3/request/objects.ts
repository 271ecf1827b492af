import { conditionsOf, fieldsOf, type S3PutOptions } from "../object_options.ts";
import type { S3Error } from "../s3_error.ts";
import type { S3Object, S3Stored } from "../s3_object.ts";
import { checksumField, sha256Checksum } from "./checksum.ts";
import { isMissing } from "./failures.ts";
import { encoded } from "./object_path.ts";
import type { SentBody } from "./sent_body.ts";
import { decoderOf, pagesOf } from "./pages.ts";
import type { Store, StoreAnswer } from "./store.ts";
import { naturalNumber } from "./xml.ts";

/** How the names of fields begin that tell metadata. */
const METADATA = "x-amz-meta-";

/** Stores an object in one request. */
export async function putObject(
  store: Store,
  key: string,
  body: SentBody,
  options: S3PutOptions = {},
): Promise<S3Stored> {
  const conditions = conditionsOf(options);
  const sha256 = sha256Checksum(await body.sha256());
  let isRepeated = false;
  try {
    return await store.send({
      method: "PUT",
      action: "store",
      key,
      body,
      headers: {
        ...fieldsOf(options),
        ...conditions,
        ...(store.checksums && checksumField(sha256)),
      },
      signal: options.signal,
      onRetry: () => isRepeated = true,
    }, async (answer) => {
      await answer.end();
      answer.requireChecksum(sha256);
      return { key, size: body.length, etag: answer.etag };
    });
  } catch (error) {
    // An attempt whose answer was lost may have met the condition, which the next one could not then.
    const isOurs = isRepeated && (error as S3Error).code === "PreconditionFailed";
    const there = isOurs ? await headObject(store, key, options.signal) : undefined;
    if (there?.sha256 !== sha256.base64) throw error;
    return { key, size: there.size, etag: there.etag };
  }
}

/** The facts about an object; undefined if there is none. */
export async function headObject(
  store: Store,
  key: string,
  signal: AbortSignal | undefined,
): Promise<S3Object | undefined> {
  try {
    return await store.send({
      method: "HEAD",
      action: "look at",
      key,
      headers: store.checksums ? { "x-amz-checksum-mode": "ENABLED" } : {},
      signal,
    }, (answer) => Promise.resolve(objectOf(key, answer)));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * The facts about an object that an answer tells in its fields.
 *
 * @throws {S3Error} if the size or the entity tag is missing.
 */
export function objectOf(key: string, answer: StoreAnswer): S3Object {
  const size = naturalNumber(answer.field("content-range")?.replace(/^.*\//, "") ?? answer.field("content-length"));
  if (size === undefined) throw answer.malformed("the store does not tell the size");
  const contentType = answer.field("content-type");
  const sha256 = answer.field("x-amz-checksum-sha256");
  const fields = [...answer.response.headers].filter(([name]) => name.startsWith(METADATA));
  const metadata = Object.fromEntries(fields.map(([name, value]) => [name.slice(METADATA.length), value]));
  return {
    key,
    size,
    etag: answer.etag,
    lastModified: new Date(answer.field("last-modified") ?? NaN),
    ...(contentType !== undefined && { contentType }),
    ...(sha256 !== undefined && { sha256 }),
    metadata,
  };
}

/** Removes an object, if it is there. */
export async function deleteObject(store: Store, key: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await store.send({ method: "DELETE", action: "delete", key, signal }, (answer) => answer.end());
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Lists objects in the order of their keys. */
export function listObjects(
  store: Store,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<S3Object> {
  return pagesOf(store, {
    action: "list objects",
    query: { "list-type": "2", "encoding-type": "url", ...(prefix !== "" && { prefix }) },
    document: "ListBucketResult",
    signal,
    entries(page) {
      const decode = decoderOf(page);
      return page.all("Contents").map((item): S3Object => ({
        key: decode(item.required("Key")),
        size: item.size("Size"),
        etag: item.text("ETag") ?? "",
        lastModified: dateOf(item.required("LastModified")),
      })).filter(({ key }) => key.startsWith(prefix)); // not every store knows prefixes
    },
    next: (page) => ({ "continuation-token": page.required("NextContinuationToken") }),
  });
}

function dateOf(text: string): Date {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new Error(`${text} is no time`);
}

/** The field that names an object to copy. */
export function copySource(store: Store, key: string): string {
  return `/${encoded(store.bucket)}/${key.split("/").map(encoded).join("/")}`;
}
