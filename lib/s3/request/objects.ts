import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { S3Error } from "../s3_error.ts";
import { conditionsOf, fieldsOf, type S3Object, type S3PutOptions, type S3Stored } from "../s3_object.ts";
import { brokenFailure, isMissing } from "./failures.ts";
import { bytesBody, encoded, type SentBody, SHA256_FIELD } from "./signed_request.ts";
import type { ReadAnswer, Store, StoreAnswer, StoreRequest } from "./store.ts";
import { escaped, naturalNumber, type XmlResponse } from "./xml.ts";

type Query = Readonly<Record<string, string>>;

interface PagedList<T> {
  readonly action: string;
  readonly key?: string;
  readonly query: Query;
  readonly document: string;
  readonly limit?: number;
  readonly signal: AbortSignal | undefined;
  /** Returns the entries of a page. Throws if an entry is incomplete. */
  entries(page: XmlResponse): T[];
  /** Returns the query for the next page. Throws if a page that is not the last lacks it. */
  next(page: XmlResponse): Query;
}

/** Reads a list to its end. @throws {S3Error} `MALFORMED_RESPONSE` also if a store repeats a page. */
export async function* pagesOf<T>(store: Store, list: PagedList<T>): AsyncGenerator<T> {
  const { action, key, query, document, signal } = list;
  let left = list.limit ?? Infinity;
  const request = { method: "GET", action, ...(key !== undefined && { key }), signal } as const;
  let next: Query | undefined = {};
  // Detects a cycle of pages by comparison with a stored page: each one whose number is a power of two is stored.
  let kept: string | undefined;
  for (let count = 1; next !== undefined; count++) {
    const asked: Query = { ...query, ...next };
    const page: { entries: T[]; next: Query | undefined } = await store.send(
      { ...request, query: asked },
      async (answer) => {
        const page = await answer.document(document);
        try {
          const isCut = page.text("IsTruncated") === "true";
          return { entries: list.entries(page), next: isCut ? list.next(page) : undefined };
        } catch (error) {
          throw answer.malformed(`an entry of the store's ${document} is none`, error);
        }
      },
    );
    for (const entry of page.entries) {
      yield entry;
      if (--left === 0) return;
    }
    next = page.next;
    const name = next && JSON.stringify(next);
    if (name !== undefined && name === kept) {
      throw brokenFailure(store.subjectOf(request), "MALFORMED_RESPONSE", "the store's list has no end");
    }
    if ((count & (count - 1)) === 0) kept = name;
  }
}

/** Returns the decoder of keys in a listing: not every store encodes them as requested. */
export function decoderOf(page: XmlResponse): (key: string) => string {
  if (page.text("EncodingType") !== "url") return (key) => key;
  return (key) => decodeURIComponent(key.replaceAll("+", " "));
}

const METADATA = "x-amz-meta-";

export async function putObject(
  store: Store,
  key: string,
  body: SentBody,
  options: S3PutOptions = {},
  fields: Readonly<Record<string, string>> = fieldsOf(options),
  isFinished = false,
): Promise<S3Stored> {
  const sha256 = Buffer.from(await body.sha256(), "hex").toString("base64");
  const headers = { ...fields, ...conditionsOf(options), ...(store.checksums && { [SHA256_FIELD]: sha256 }) };
  const request = { method: "PUT", action: "store", key, body, headers, signal: options.signal, isFinished } as const;
  return await storeObject(store, request, body.length, async (answer) => {
    await answer.end();
    answer.requireChecksum(SHA256_FIELD, sha256);
    return answer.etag;
  }, async (there) => {
    if (there.size !== body.length || there.sha256 !== undefined) return there.sha256 === sha256;
    const hash = createHash("md5"); // the entity tag in most stores
    for await (const piece of body.open()) hash.update(piece);
    return bareTag(there.etag) === hash.digest("hex");
  });
}

/**
 * Stores an object. An earlier attempt with a lost response may have met the condition, and an aborted one may have
 * succeeded: `isOurs` checks whether that object exists. The metadata in `fields` distinguish equal objects.
 */
export async function storeObject(
  store: Store,
  request: StoreRequest & { readonly key: string },
  size: number,
  read: ReadAnswer<string>,
  isOurs: (there: S3Object) => boolean | Promise<boolean>,
  isUnknown: (error: unknown) => boolean = () => false,
  fields: StoreRequest["headers"] = request.headers,
): Promise<S3Stored> {
  const { key, signal, isFinished = false } = request;
  signal?.throwIfAborted();
  let isRepeated = false;
  try {
    return { key, size, etag: await store.send({ ...request, onRetry: () => isRepeated = true }, read) };
  } catch (error) {
    const isAborted = signal?.aborted ?? false;
    if (!isFinished) signal?.throwIfAborted();
    const isRefused = isRepeated && (error as S3Error).code === "PreconditionFailed";
    const isLost = isAborted && ((error as Partial<S3Error>).status ?? 500) >= 500;
    const isLooked = isRefused || isLost || isUnknown(error);
    const there = isLooked ? await headObject(store, key, signal, isFinished).catch(() => undefined) : undefined;
    const isMarked = there !== undefined && JSON.stringify(there.metadata) === JSON.stringify(metadataIn(fields));
    if (isMarked && await isOurs(there)) return { key, size: there.size, etag: there.etag };
    signal?.throwIfAborted();
    throw error;
  }
}

export async function headObject(...args: Parameters<typeof findObject>): Promise<S3Object | undefined> {
  return (await findObject(...args))?.object;
}

const STORED = /^(?:cache-control|content-(?:disposition|encoding|language|type)|expires|x-amz-meta-.+)$/;

/** Reads the properties of an object, and the fields that a copy of it keeps. */
export async function findObject(
  store: Store,
  key: string,
  signal?: AbortSignal,
  isFinished = false,
): Promise<{ readonly object: S3Object; readonly fields: Readonly<Record<string, string>> } | undefined> {
  try {
    return await store.send({
      method: "HEAD",
      action: "look at",
      key,
      headers: store.checksums ? { "x-amz-checksum-mode": "ENABLED" } : {},
      signal,
      isFinished,
    }, (answer) => {
      const fields = Object.fromEntries([...answer.response.headers].filter(([name]) => STORED.test(name)));
      return Promise.resolve({ object: objectOf(key, answer), fields });
    });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export function objectOf(key: string, answer: StoreAnswer): S3Object {
  const size = naturalNumber(answer.field("content-range")?.replace(/^.*\//, "") ?? answer.field("content-length"));
  if (size === undefined) throw answer.malformed("the store does not tell the size");
  const contentType = answer.field("content-type");
  const sha256 = answer.field(SHA256_FIELD);
  const versionId = answer.field("x-amz-version-id");
  return {
    key,
    size,
    etag: answer.etag,
    lastModified: new Date(answer.field("last-modified") ?? NaN),
    ...(contentType !== undefined && { contentType }),
    ...(sha256 !== undefined && { sha256 }),
    ...(versionId !== undefined && versionId !== "null" && { versionId }),
    metadata: metadataIn(Object.fromEntries(answer.response.headers)),
  };
}

function metadataIn(fields: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const found = Object.entries(fields).filter(([name]) => name.startsWith(METADATA)).sort();
  return Object.fromEntries(found.map(([name, value]) => [name.slice(METADATA.length), value]));
}

/** Returns an entity tag without its quotes, which some stores omit. */
export function bareTag(etag: string): string {
  return etag.trim().replace(/^(?:W\/)?"(.*)"$/, "$1");
}

/** The status of a store that refuses unsupported conditions. */
const [FORBIDDEN, NOT_IMPLEMENTED] = [403, 501];
/** The statuses of stores that do not support a request. */
const UNSUPPORTED: readonly number[] = [400, 404, 405, NOT_IMPLEMENTED];

/** Reads an object's tags, as the field of a copy; none without support or permission: a copy needs no more rights. */
export async function tagsOf(
  store: Store,
  key: string,
  signal: AbortSignal | undefined,
): Promise<Record<string, string>> {
  const request = { method: "GET", action: "read the tags of", key, query: { tagging: "" }, signal } as const;
  return await store.send(request, async (answer) => {
    const tags = (await answer.document("Tagging")).all("TagSet").flatMap((set) => set.all("Tag"));
    const pairs = tags.map((tag) => ["Key", "Value"].map((name) => encoded(tag.text(name) ?? "")).join("="));
    return { ...(pairs.length > 0 && { "x-amz-tagging": pairs.join("&") }) };
  }).catch((error) => {
    const { code, status = 0 } = error as S3Error;
    if (UNSUPPORTED.includes(status) || status === FORBIDDEN || code === "MALFORMED_RESPONSE") return {};
    throw error;
  });
}

/** Removes an object. With `ifMatch` it is sent once: a retry could remove an object that another client has stored since. */
export async function deleteObject(
  store: Store,
  key: string,
  { signal, ifMatch, versionId }: {
    readonly signal?: AbortSignal | undefined;
    readonly ifMatch?: string | undefined;
    readonly versionId?: string;
  } = {},
): Promise<void> {
  const query: Query = versionId === undefined ? {} : { versionId };
  const request = { method: "DELETE", action: "delete", key, query, signal } as const;
  const send = (extra: Partial<StoreRequest>): Promise<void> => {
    return store.send({ ...request, ...extra }, (answer) => answer.end());
  };
  try {
    if (ifMatch === undefined) return await send({});
    await send({ headers: { "if-match": ifMatch }, retries: 0 }).catch(async (error) => {
      if ((error as S3Error).status !== NOT_IMPLEMENTED) throw error;
      const there = await headObject(store, key, signal);
      if (there !== undefined && there.etag !== ifMatch) {
        throw brokenFailure(store.subjectOf(request), "OBJECT_CHANGED", "it is another object by now");
      }
      await send({ retries: 0 });
    });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

const MAX_KEYS = 1000;

/** Removes existing objects, many by one request, or separately if a store does not support that. */
export async function deleteObjects(store: Store, keys: readonly string[]): Promise<void> {
  for (let start = 0; start < keys.length; start += MAX_KEYS) {
    const some = keys.slice(start, start + MAX_KEYS);
    const list = some.map((key) => `<Object><Key>${escaped(key)}</Key></Object>`).join("");
    const bytes = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${list}</Delete>`);
    const body = bytesBody(bytes);
    const headers = { "content-md5": createHash("md5").update(bytes).digest("base64") };
    const request = { method: "POST", action: "delete objects", query: { delete: "" }, headers, body } as const;
    const left = some.length === 1 ? some : await store.send(request, async (answer) => {
      return (await answer.document("DeleteResult")).all("Error").map((each) => each.required("Key"));
    }).catch((error) => {
      if (UNSUPPORTED.includes((error as S3Error).status ?? 0)) return some;
      throw error;
    });
    await Promise.all(left.map((key) => deleteObject(store, key)));
  }
}

export interface ListOptions extends Pick<S3PutOptions, "signal"> {
  prefix?: string;
  delimiter?: string;
  startAfter?: string;
  limit?: number;
}

export function listObjects(
  store: Store,
  { prefix = "", delimiter, startAfter, limit = Infinity, signal }: ListOptions,
): AsyncGenerator<S3Object | { readonly prefix: string }> {
  return pagesOf(store, {
    action: "list objects",
    query: {
      "list-type": "2",
      "encoding-type": "url",
      ...(prefix !== "" && { prefix }),
      ...(delimiter && { delimiter }),
      ...(startAfter && { "start-after": startAfter }),
      ...(limit < MAX_KEYS && { "max-keys": String(limit) }),
    },
    document: "ListBucketResult",
    limit,
    signal,
    entries(page) {
      const decode = decoderOf(page);
      const objects = page.all("Contents").map((item): S3Object => ({
        key: decode(item.required("Key")),
        size: item.size("Size"),
        etag: item.text("ETag") ?? "",
        lastModified: dateOf(item.required("LastModified")),
      })).filter(({ key }) => key.startsWith(prefix)); // not every store supports prefixes
      return [...objects, ...page.all("CommonPrefixes").map((item) => ({ prefix: decode(item.required("Prefix")) }))];
    },
    next: (page) => ({ "continuation-token": page.required("NextContinuationToken") }),
  });
}

function dateOf(text: string): Date {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  throw new Error(`${text} is no time`);
}

export function copySource(store: Store, key: string): string {
  return `/${encoded(store.bucket)}/${key.split("/").map(encoded).join("/")}`;
}
