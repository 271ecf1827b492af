import { Buffer } from "node:buffer";
import { createHash, type Hash } from "node:crypto";
import { formatHTTPDate } from "../../../semantics/mod.ts";
import { Refusal } from "../../body/upload_error.ts";
import type { OpenSession, SessionRecord } from "../../session/session_storage.ts";
import { admitRequest, requireFile } from "../admission.ts";
import type { Answer } from "../incoming.ts";
import { locationOf } from "../naming.ts";
import { typeOf } from "../settings.ts";
import {
  type AdmittedExchange,
  appendRequest,
  complete,
  contentTypeOf,
  emptyAnswer,
  type Exchange,
  type Fields,
  hasBytes,
  infoOf,
  refused,
  removeSession,
  requestField,
  requireSize,
  sessionOfUrl,
  withSession,
} from "./exchange.ts";

export const VERSION = "1.0.0";

export const EXTENSIONS =
  "creation,creation-with-upload,creation-defer-length,checksum,expiration,termination,concatenation";

const DATA_TYPE = "application/offset+octet-stream";

const ALGORITHMS: readonly string[] = ["sha1", "sha256", "sha512", "md5"];

export const CHECKSUMS: string = ALGORITHMS.join(",");

function numberIn(exchange: Exchange, name: string): number | undefined {
  const value = requestField(exchange, name);
  if (value === undefined) return undefined;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new Refusal("BAD_FIELD", `${name} must be a number of bytes, not ${JSON.stringify(value)}`);
}

function parseMetadata(field: string | undefined): Record<string, string> {
  const metadata: Record<string, string> = {};
  if (field === undefined || field === "") return metadata;
  for (const pair of field.split(",")) {
    const [, key, value = ""] = /^ *([!-+\--~]+)(?: ([A-Za-z0-9+/]*={0,2}))? *$/.exec(pair) ?? [];
    if (key === undefined || Object.hasOwn(metadata, key)) {
      throw new Refusal("BAD_FIELD", `Upload-Metadata is malformed at ${JSON.stringify(pair)}`);
    }
    Object.defineProperty(metadata, key, { value: Buffer.from(value, "base64").toString(), enumerable: true });
  }
  return metadata;
}

/** A media type (RFC 9110, section 8.3.1), with or without parameters. */
const MEDIA_TYPE = /^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+ *(?:;[ -~]*)?$/;

/** @throws {Refusal} if the checksum of a request is malformed, or its algorithm is unknown. */
function checksumIn(exchange: Exchange): { readonly hash: Hash; readonly expected: string } | undefined {
  const field = requestField(exchange, "upload-checksum");
  if (field === undefined) return undefined;
  const [, name = "", expected = ""] = /^(\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(field) ?? [];
  if (!ALGORITHMS.includes(name)) {
    throw new Refusal("BAD_FIELD", `Upload-Checksum must be one of ${CHECKSUMS} and base64`);
  }
  return { hash: createHash(name), expected };
}

/** Returns the sessions that a final upload joins, by `Upload-Concat`; undefined if it is not final. */
function partsOf(concat: string | undefined): string[] | undefined {
  if (concat === undefined || concat === "partial") return undefined;
  const [, list] = /^final; *(\S.*)$/.exec(concat) ?? [];
  const parts = list?.split(/ +/).map(sessionOfUrl) ?? [];
  if (parts.length > 0 && parts.every((part) => part !== undefined)) return parts as string[];
  throw new Refusal("BAD_FIELD", 'Upload-Concat must be "partial", or "final;" and the URLs of partial uploads');
}

const FIELDS: Fields = { "Tus-Resumable": VERSION };

/** Answers a request by its effective method. @see {@link https://tus.io/protocols/resumable-upload} */
export async function answerTus(exchange: Exchange, method: string, id: string | undefined): Promise<Answer> {
  try {
    const admission = admitRequest(exchange.settings, exchange.request, true);
    const answer = await respond({ ...exchange, admission }, method, id);
    return { ...answer, fields: { ...answer.fields, ...FIELDS } };
  } catch (error) {
    throw refused(exchange, error, FIELDS);
  }
}

async function respond(exchange: AdmittedExchange, method: string, id: string | undefined): Promise<Answer> {
  const version = requestField(exchange, "tus-resumable");
  if (version !== VERSION) {
    const message = `The version ${JSON.stringify(version)} of tus is not known: use ${VERSION}`;
    throw new Refusal("UNKNOWN_VERSION", message, { "Tus-Version": VERSION });
  }
  if (method === "POST") return await create(exchange);
  if (method === "HEAD") return await tellOffset(exchange, id);
  if (method === "PATCH") return await append(exchange, id);
  if (method === "DELETE") return await removeSession(exchange, id, "tus");
  throw new Refusal("METHOD_NOT_ALLOWED", `tus has no ${method}`, { Allow: "DELETE, HEAD, OPTIONS, PATCH, POST" });
}

async function create(exchange: AdmittedExchange): Promise<Answer> {
  const concat = requestField(exchange, "upload-concat");
  const parts = partsOf(concat);
  const length = parts === undefined ? newLength(exchange) : undefined;
  requireSize(exchange.settings, length);
  requireContent(exchange);
  const record = { ...await recordOf(exchange, concat), ...(length !== undefined && { length }) };
  const lease = await exchange.sessions.create(record);
  const { session } = lease;
  try {
    if (parts !== undefined) await concatenate(exchange, session, parts);
    else if (hasContent(exchange)) await appendRequest(exchange, lease, checksumIn(exchange));
    await finishIfWhole(exchange, session);
    const isPlain = parts === undefined && !hasContent(exchange);
    return emptyAnswer(201, {
      Location: locationOf(exchange.settings, exchange.request, session.id),
      ...(!isPlain && { "Upload-Offset": String(session.offset) }),
      ...expiration(exchange, session),
    });
  } catch (error) {
    // The sender has no `Location` of the session, so it cannot resume it: at the latest, the session expires.
    await session.remove().catch(() => {});
    throw error;
  } finally {
    await lease.release();
  }
}

function newLength(exchange: Exchange): number | undefined {
  const length = numberIn(exchange, "upload-length");
  const deferred = requestField(exchange, "upload-defer-length");
  if (deferred !== undefined && (deferred !== "1" || length !== undefined)) {
    throw new Refusal("BAD_FIELD", "Upload-Defer-Length must be 1, without Upload-Length");
  }
  if (length === undefined && deferred === undefined) {
    throw new Refusal("BAD_FIELD", "Upload-Length must say how long the upload is, or Upload-Defer-Length: 1");
  }
  return length;
}

async function recordOf(exchange: AdmittedExchange, concat: string | undefined): Promise<SessionRecord> {
  const { settings, admission } = exchange;
  const metadataField = requestField(exchange, "upload-metadata");
  const metadata = parseMetadata(metadataField);
  const filename = metadata.filename ?? metadata.name;
  const { filetype, contentType: told, type } = metadata;
  const given = [filetype, told, type].find((each) => each !== undefined && MEDIA_TYPE.test(each));
  const contentType = typeOf(settings.accept, given, filename ?? "", "application/octet-stream");
  const digest = requestField(exchange, "repr-digest");
  const record: SessionRecord = {
    version: 1,
    protocol: "tus",
    method: "POST",
    path: admission.path,
    contentType,
    ...(filename !== undefined && { filename }),
    metadata,
    ...(metadataField !== undefined && { metadataField }),
    ...(concat !== undefined && { concat }),
    fields: digest === undefined ? {} : { "repr-digest": digest },
    state: "open",
  };
  if (concat === "partial") return record; // it becomes a file only together with others
  return { ...record, name: (await requireFile(settings, infoOf(exchange, record))).name };
}

async function append(exchange: AdmittedExchange, id: string | undefined): Promise<Answer> {
  requireContent(exchange, true);
  const provided = numberIn(exchange, "upload-offset");
  if (provided === undefined) throw new Refusal("BAD_FIELD", "Upload-Offset must say where the data begins");
  return await withSession(exchange, id, "tus", async (lease) => {
    const { session } = lease;
    const { offset } = session;
    const { concat } = session.record;
    if (concat !== undefined && concat !== "partial") {
      throw new Refusal("FINAL", "Nothing can be appended to an upload that was concatenated");
    }
    if (provided !== offset) {
      const message = `The upload is continued at ${provided}, but ${offset} bytes of it are here`;
      throw new Refusal("OFFSET_MISMATCH", message, { "Upload-Offset": String(offset) });
    }
    await learnLength(exchange, session);
    if (session.record.state === "open") await appendRequest(exchange, lease, checksumIn(exchange));
    else if (await hasBytes(exchange)) {
      throw new Refusal("COMPLETED", "The upload is complete: nothing can be appended");
    }
    await finishIfWhole(exchange, session);
    return emptyAnswer(204, { "Upload-Offset": String(session.offset), ...expiration(exchange, session) });
  });
}

async function learnLength(exchange: Exchange, session: OpenSession): Promise<void> {
  const length = numberIn(exchange, "upload-length");
  if (length === undefined || length === session.record.length) return;
  if (session.record.length !== undefined || length < session.offset) {
    throw new Refusal("INCONSISTENT_LENGTH", "The length of an upload cannot be changed, nor be less than is here");
  }
  requireSize(exchange.settings, length);
  await session.save({ ...session.record, length });
}

/** Appends the data of partial uploads to that of a final one; the partial ones are not changed. */
async function concatenate(exchange: Exchange, session: OpenSession, parts: readonly string[]): Promise<void> {
  let length = 0;
  for (const id of parts) {
    await withSession(exchange, id, "tus", async ({ session: part }) => {
      if (part.record.concat !== "partial" || part.record.length !== part.offset) {
        throw new Refusal("BAD_FIELD", "Upload-Concat names an upload that is not partial, or not complete");
      }
      length += part.offset;
      requireSize(exchange.settings, length);
      for await (const piece of part.read()) await session.append([piece]);
    });
  }
  await session.settle();
  await session.save({ ...session.record, length });
}

/** Stores an upload that has all of its bytes, unless it is a part of another. */
async function finishIfWhole(exchange: Exchange, session: OpenSession): Promise<void> {
  if (isWhole(session) && session.record.concat !== "partial") await complete(exchange, session);
}

async function tellOffset(exchange: Exchange, id: string | undefined): Promise<Answer> {
  return await withSession(exchange, id, "tus", async ({ session }) => {
    await finishIfWhole(exchange, session); // an offset alone would look like success to its sender
    const { length, metadataField, concat } = session.record;
    return emptyAnswer(200, {
      "Upload-Offset": String(session.offset),
      ...(length === undefined ? { "Upload-Defer-Length": "1" } : { "Upload-Length": String(length) }),
      ...(metadataField !== undefined && { "Upload-Metadata": metadataField }),
      ...(concat !== undefined && { "Upload-Concat": concat }),
      ...expiration(exchange, session),
      "Cache-Control": "no-store",
    });
  });
}

/** @throws {Refusal} if the content has another type than `application/offset+octet-stream`. */
function requireContent(exchange: Exchange, isRequired = false): void {
  if (contentTypeOf(exchange) === DATA_TYPE || (!isRequired && !hasContent(exchange))) return;
  throw new Refusal("UNSUPPORTED", `Data is sent with the type ${DATA_TYPE}`);
}

function hasContent(exchange: Exchange): boolean {
  const length = requestField(exchange, "content-length");
  if (length !== undefined) return Number(length) > 0;
  return requestField(exchange, "transfer-encoding") !== undefined || contentTypeOf(exchange) === DATA_TYPE;
}

function isWhole({ record, offset }: OpenSession): boolean {
  return record.state !== "open" || record.length === offset;
}

function expiration({ settings }: Exchange, session: OpenSession): Fields {
  return isWhole(session) && session.record.concat !== "partial"
    ? {}
    : { "Upload-Expires": formatHTTPDate(session.touched + settings.sessions!.maxAge) };
}
