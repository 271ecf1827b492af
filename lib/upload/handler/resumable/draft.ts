import { parseBoolean, parseNaturalNumber } from "../../../semantics/mod.ts";
import { Refusal, type UploadError } from "../../body/upload_error.ts";
import { decodeExtended, parseParameters } from "../../form/part_header.ts";
import type { OpenSession, SessionRecord } from "../../session/session_storage.ts";
import type { Lease } from "../../session/sessions.ts";
import { admit, admitRequest, isResumable } from "../admission.ts";
import type { Answer } from "../incoming.ts";
import { locationOf } from "../naming.ts";
import type { Settings } from "../settings.ts";
import {
  type AdmittedExchange,
  appendRequest,
  complete,
  contentTypeOf,
  emptyAnswer,
  type Exchange,
  type Fields,
  hasBytes,
  isFinal,
  refused,
  removeSession,
  requestField,
  requireSize,
  uploadLimit,
  withSession,
} from "./exchange.ts";

/** The newest interop version: that of draft 11. */
const NEWEST = 8;
/** The supported interop versions: `tus-js-client` has 5 and 6, iOS 18 to 26 have 6. */
const SPOKEN: readonly number[] = [5, 6, NEWEST];

/** An exchange by a version of the draft. Without a named version, no interim response is sent. */
interface DraftExchange extends AdmittedExchange {
  readonly version: number;
  readonly isNamed: boolean;
  /** The header fields for a refusal, by what is known of the session. */
  fields: Fields;
}

function askedComplete(exchange: Pick<Exchange, "request">): boolean | undefined {
  return parseBoolean(requestField(exchange, "upload-complete"));
}

function completeness(isComplete: boolean): Fields {
  return { "Upload-Complete": isComplete ? "?1" : "?0" };
}

function problem(
  code: "COMPLETED" | "INCONSISTENT_LENGTH" | "OFFSET_MISMATCH",
  message: string,
  type: string,
  members: Readonly<Record<string, unknown>> = {},
): Refusal {
  return new Refusal(code, message, {}, undefined, {
    type: `https://iana.org/assignments/http-problem-types#${type}`,
    ...members,
  });
}

function inconsistentLength(message: string): Refusal {
  return problem("INCONSISTENT_LENGTH", message, "inconsistent-upload-length");
}

const PARTIAL = "application/partial-upload";
/** The fields of the creating request that affect how the complete representation is stored. */
const KEPT_FIELDS = ["if-match", "if-none-match", "if-unmodified-since", "repr-digest"];

/** @see {@link https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/} */
export async function answerDraft(exchange: Exchange, id: string | undefined): Promise<Answer> {
  const version = parseNaturalNumber(requestField(exchange, "upload-draft-interop-version"));
  const isNamed = version !== undefined && SPOKEN.includes(version);
  // A refused creation is the target's own response, and complete.
  const named = { version: isNamed ? version : NEWEST, isNamed, fields: completeness(id === undefined) };
  let drafted: DraftExchange | undefined;
  try {
    drafted = { ...exchange, ...named, admission: admitRequest(exchange.settings, exchange.request, true) };
    return await respond(drafted, id);
  } catch (error) {
    throw refused(exchange, error, (drafted ?? named).fields);
  }
}

async function respond(exchange: DraftExchange, id: string | undefined): Promise<Answer> {
  const { method } = exchange.request;
  if (id === undefined) return await create(exchange);
  if (method === "PATCH") return await append(exchange, id);
  if (method === "DELETE") return await removeSession(exchange, id, "rufh");
  return await tellOffset(exchange, id);
}

async function create(exchange: DraftExchange): Promise<Answer> {
  const { settings, sessions, request } = exchange;
  const isLast = askedComplete(exchange)!;
  const parameters = parseParameters(requestField(exchange, "content-disposition") ?? "", "backslash")?.parameters;
  const filename = decodeExtended(parameters?.get("filename*") ?? "") ?? parameters?.get("filename");
  const { info, file } = await admit(settings, request, exchange.admission, filename);
  exchange.fields = completeness(false);
  const length = lengthAfter(exchange, undefined, 0, isLast);
  const limit = { ...exchange.fields, "Upload-Limit": uploadLimit(settings, undefined) };
  if (length !== undefined && length > settings.save.maxBytes) exchange.fields = limit;
  requireSize(settings, length);
  const kept = KEPT_FIELDS.flatMap((name) => {
    const value = requestField(exchange, name);
    return value === undefined ? [] : [[name, value]];
  });
  const lease = await sessions.create({
    version: 1,
    protocol: "rufh",
    method: request.method,
    path: info.path,
    contentType: info.contentType,
    ...(filename !== undefined && { filename }),
    name: file!.name,
    fields: Object.fromEntries(kept),
    ...(length !== undefined && { length }),
    state: "open",
  });
  try {
    const location = locationOf(settings, request, lease.session.id);
    const announcement = { Location: location, "Upload-Limit": uploadLimit(settings, lease.session) };
    exchange.fields = { ...exchange.fields, ...announcement };
    const isTold = inform(exchange, announcement);
    try {
      await receive(exchange, lease);
    } catch (error) {
      // The sender left without the session's URL, so it cannot resume it.
      if (!isTold && (error as UploadError).code === "ABORTED") await lease.session.remove().catch(() => {});
      throw error;
    }
    if (isLast) return await finish(exchange, lease.session);
    const offset = { "Upload-Offset": String(lease.session.offset) };
    return emptyAnswer(201, { ...exchange.fields, ...offset });
  } finally {
    await lease.release();
  }
}

async function append(exchange: DraftExchange, id: string): Promise<Answer> {
  if (exchange.version >= 6 && contentTypeOf(exchange) !== PARTIAL) {
    const message = `Data is appended with the type ${PARTIAL}`;
    throw new Refusal("UNSUPPORTED", message, { "Accept-Patch": PARTIAL });
  }
  const provided = parseNaturalNumber(requestField(exchange, "upload-offset"));
  if (provided === undefined) throw new Refusal("BAD_FIELD", "Upload-Offset must say where the data begins");
  const isLast = askedComplete(exchange) ?? (exchange.version < 6 ? false : undefined);
  if (isLast === undefined) throw new Refusal("BAD_FIELD", "Upload-Complete must say whether the data is the last");
  return await withSession(exchange, id, "rufh", async (lease) => {
    const { session } = lease;
    const { offset } = session;
    exchange.fields = { ...completeness(false), "Upload-Offset": String(offset) };
    if (provided !== offset) {
      const message = `The upload is continued at ${provided}, but ${offset} bytes of it are here`;
      const members = { "expected-offset": offset, "provided-offset": provided };
      throw problem("OFFSET_MISMATCH", message, "mismatching-upload-offset", members);
    }
    if (session.record.state !== "open") {
      // The response to the last data may have been lost.
      if (isLast && !await hasBytes(exchange)) return await finish(exchange, session);
      throw problem("COMPLETED", "The upload is complete: nothing can be appended", "completed-upload");
    }
    const length = lengthAfter(exchange, session.record, offset, isLast);
    requireSize(exchange.settings, length);
    if (length !== session.record.length) await session.save({ ...session.record, length: length! });
    await receive(exchange, lease);
    if (isLast) return await finish(exchange, session);
    return emptyAnswer(204, exchange.fields);
  });
}

async function receive(exchange: DraftExchange, lease: Lease): Promise<void> {
  const { settings } = exchange;
  const { session } = lease;
  const { length } = session.record;
  try {
    await appendRequest(exchange, lease);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "TOO_LARGE" || code === "INCONSISTENT_LENGTH") {
      await session.remove().catch(() => {});
      if (length === undefined) {
        exchange.fields = { ...exchange.fields, "Upload-Limit": uploadLimit(settings, undefined) };
      }
      throw length === undefined ? error : inconsistentLength(`More came than the ${length} bytes that the upload has`);
    }
    throw error;
  } finally {
    exchange.fields = { ...exchange.fields, "Upload-Offset": String(session.offset) };
  }
}

/** Stores the representation, and responds as its target would to a single request. */
async function finish(exchange: DraftExchange, session: OpenSession): Promise<Answer> {
  const { length } = session.record;
  const { offset } = session;
  if (length !== undefined && length !== offset) {
    throw inconsistentLength(`The upload is said to be complete after ${offset} of its ${length} bytes`);
  }
  const fields = { "Upload-Offset": String(offset), ...completeness(true) };
  const location = locationOf(exchange.settings, exchange.request, session.id);
  const answer = await complete(exchange, session).catch((error) => {
    if (isFinal(error)) exchange.fields = fields;
    throw error;
  });
  const { Location: file } = answer.fields;
  // Early drafts allow the field to name the upload in these responses, too.
  const places: Fields = exchange.version > 6 || file === undefined
    ? {}
    : { Location: location, "Content-Location": file };
  return { ...answer, fields: { ...answer.fields, ...fields, ...places } };
}

async function tellOffset(exchange: DraftExchange, id: string): Promise<Answer> {
  return await withSession(exchange, id, "rufh", async ({ session }) => {
    // The server was killed while it stored the file.
    if (session.record.state === "storing") await finish(exchange, session);
    const { record, offset } = session;
    return emptyAnswer(204, {
      ...completeness(record.state === "stored"),
      "Upload-Offset": String(offset),
      ...(record.length !== undefined && { "Upload-Length": String(record.length) }),
      "Upload-Limit": uploadLimit(exchange.settings, session),
      "Cache-Control": "no-store",
    });
  });
}

/** Returns the length of the whole upload by the request and the session. @throws {Refusal} if the two differ. */
function lengthAfter(
  exchange: Exchange,
  record: SessionRecord | undefined,
  offset: number,
  isLast: boolean,
): number | undefined {
  const reported = parseNaturalNumber(requestField(exchange, "upload-length"));
  const content = requestField(exchange, "content-length");
  const isCounted = isLast && content !== undefined && /^\d+$/.test(content);
  const counted = isCounted ? offset + Number(content) : undefined;
  const [length, ...others] = [record?.length, reported, counted].filter((each) => each !== undefined);
  const other = others.find((each) => each !== length);
  if (other !== undefined) throw inconsistentLength(`The length of the upload is said to be ${length}, and ${other}`);
  if (length !== undefined && length < offset) {
    throw inconsistentLength(`The length of the upload is said to be ${length}, but ${offset} bytes of it are here`);
  }
  return length;
}

/** Sends an interim response if the sender has named a supported version: other clients might misinterpret it. */
function inform({ request, version, isNamed }: DraftExchange, fields: Fields): boolean {
  return isNamed && request.inform?.(104, { "Upload-Draft-Interop-Version": String(version), ...fields }) === true;
}

/** Whether a request creates an upload. A complete body that is not resumable is stored like that of an ordinary request. */
export function createsByDraft(settings: Settings, request: Exchange["request"]): boolean {
  if (request.method !== "PUT" && request.method !== "POST") return false;
  const isComplete = askedComplete({ request });
  return isComplete !== undefined && (!isComplete || isResumable(settings, request));
}
