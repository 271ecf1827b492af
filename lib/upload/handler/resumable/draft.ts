import { parseBoolean, parseNaturalNumber } from "../../../semantics/mod.ts";
import { type Announced, announcedOf } from "../../body/announced.ts";
import { Refusal, UploadError } from "../../body/upload_error.ts";
import { decodeExtended, parseParameters } from "../../form/part_header.ts";
import type { OpenSession, SessionRecord } from "../../session/session_storage.ts";
import type { Lease } from "../../session/sessions.ts";
import { admit } from "../admission.ts";
import { requireOwnSite } from "../cross_site.ts";
import type { Answer } from "../incoming.ts";
import { locationOf } from "../naming.ts";
import type { Settings } from "../settings.ts";
import {
  appendRequest,
  complete,
  contentTypeOf,
  emptyAnswer,
  type Exchange,
  type Fields,
  isFinal,
  keptFields,
  maxSizeOf,
  refused,
  removeSession,
  requestField,
  requireSize,
  uploadLimit,
  withSession,
} from "./exchange.ts";

/** The newest interop version: that of draft 11. */
const NEWEST = 8;
/** The older supported interop versions: that of `tus-js-client`, and that of both that and iOS 18 to 26. */
const SPOKEN: readonly number[] = [5, 6];

/** The version of Resumable Uploads for HTTP that a request uses. */
interface Draft {
  readonly version: number;
  /** Whether the sender named its version: without that, no interim response is sent. */
  readonly isNamed: boolean;
}

/** Returns the version that a request uses: the newest, unless it names another known one. */
function draftOf(exchange: Pick<Exchange, "request">): Draft {
  const version = parseNaturalNumber(requestField(exchange, "upload-draft-interop-version"));
  const isNamed = version !== undefined && [...SPOKEN, NEWEST].includes(version);
  return { version: isNamed ? version : NEWEST, isNamed };
}

/** Returns whether the request completes the upload, by its field; undefined without the field. */
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

/** The header fields for the response to a request whose session is known. */
interface State {
  fields: Fields;
}

/** @see {@link https://datatracker.ietf.org/doc/draft-ietf-httpbis-resumable-upload/} */
export async function answerDraft(exchange: Exchange, id: string | undefined): Promise<Answer> {
  requireOwnSite(exchange.settings.allowedOrigins, exchange.request);
  const draft = draftOf(exchange);
  const state: State = { fields: completeness(false) };
  try {
    return await respond(exchange, id, draft, state);
  } catch (error) {
    throw refused(exchange, error, state.fields);
  }
}

async function respond(exchange: Exchange, id: string | undefined, draft: Draft, state: State): Promise<Answer> {
  const { method } = exchange.request;
  if (id === undefined) return await create(exchange, draft, state);
  if (method === "PATCH") return await append(exchange, id, draft, state);
  if (method === "DELETE") return await removeSession(exchange, id, "rufh");
  return await tellOffset(exchange, id, draft, state);
}

async function create(exchange: Exchange, draft: Draft, state: State): Promise<Answer> {
  const { settings, sessions, request } = exchange;
  const isLast = askedComplete(exchange)!;
  state.fields = completeness(true); // the target itself refuses an unwanted body
  const { info, file } = await admit(settings, request);
  if (file === undefined || !isResumable(settings, request)) {
    const message = "A form, and a body whose coding is undone, is sent in one request: Upload-Complete must be ?1";
    throw new Refusal("UNSUPPORTED", message, { "Accept-Encoding": "identity" });
  }
  state.fields = completeness(false);
  const length = lengthAfter(exchange, undefined, 0, isLast);
  try {
    requireSize(settings, length);
  } catch (error) {
    state.fields = { ...state.fields, "Upload-Limit": uploadLimit(settings, undefined) };
    throw error;
  }
  const filename = filenameOf(requestField(exchange, "content-disposition"));
  const lease = await sessions.create({
    version: 1,
    protocol: "rufh",
    method: request.method,
    path: info.path,
    contentType: info.contentType,
    ...(filename !== undefined && { filename }),
    name: file.name,
    fields: keptFields(exchange),
    ...(length !== undefined && { length }),
    state: "open",
  });
  try {
    const location = locationOf(settings, request, lease.session.id);
    const announcement = { Location: location, "Upload-Limit": uploadLimit(settings, lease.session) };
    state.fields = { ...state.fields, ...announcement };
    const isTold = inform(exchange, draft, announcement);
    try {
      await receive(exchange, lease, state);
    } catch (error) {
      // The sender left without the session's URL, so it cannot resume it.
      if (!isTold && (error as UploadError).code === "ABORTED") await lease.session.remove();
      throw error;
    }
    if (isLast) return await finish(exchange, lease.session, draft, state);
    const offset = { "Upload-Offset": String(lease.session.offset) };
    return emptyAnswer(201, { ...state.fields, ...offset });
  } finally {
    await lease.release();
  }
}

async function append(exchange: Exchange, id: string, draft: Draft, state: State): Promise<Answer> {
  if (draft.version >= 6 && contentTypeOf(exchange) !== PARTIAL) {
    const message = `Data is appended with the type ${PARTIAL}`;
    throw new Refusal("UNSUPPORTED", message, { "Accept-Patch": PARTIAL });
  }
  const provided = parseNaturalNumber(requestField(exchange, "upload-offset"));
  if (provided === undefined) throw new Refusal("BAD_FIELD", "Upload-Offset must say where the data begins");
  const isLast = askedComplete(exchange) ?? (draft.version < 6 ? false : undefined);
  if (isLast === undefined) throw new Refusal("BAD_FIELD", "Upload-Complete must say whether the data is the last");
  return await withSession(exchange, id, "rufh", async (lease) => {
    const { session } = lease;
    const { offset } = session;
    state.fields = { ...completeness(false), "Upload-Offset": String(offset) };
    if (provided !== offset) {
      const message = `The upload is continued at ${provided}, but ${offset} bytes of it are here`;
      const members = { "expected-offset": offset, "provided-offset": provided };
      throw problem("OFFSET_MISMATCH", message, "mismatching-upload-offset", members);
    }
    if (session.record.state !== "open") {
      // The response to the last data may have been lost.
      if (isLast && Number(requestField(exchange, "content-length") ?? 0) === 0) {
        return await finish(exchange, session, draft, state);
      }
      throw problem("COMPLETED", "The upload is complete: nothing can be appended", "completed-upload");
    }
    const length = lengthAfter(exchange, session.record, offset, isLast);
    requireSize(exchange.settings, length);
    if (length !== session.record.length) await session.save({ ...session.record, length: length! });
    await receive(exchange, lease, state);
    if (isLast) return await finish(exchange, session, draft, state);
    return emptyAnswer(204, state.fields);
  });
}

async function receive(exchange: Exchange, lease: Lease, state: State): Promise<void> {
  const { settings } = exchange;
  const { session } = lease;
  const { length } = session.record;
  const announced = contentOf(exchange);
  const most = (length ?? maxSizeOf(settings)) - session.offset;
  try {
    if ((announced.expectedBytes ?? 0) > most) throw tooMuch(length, most);
    await appendRequest(exchange, lease, announced, most);
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code === "TOO_LARGE" || code === "INCONSISTENT_LENGTH") {
      await session.remove();
      if (length === undefined) state.fields = { ...state.fields, "Upload-Limit": uploadLimit(settings, undefined) };
      throw length === undefined ? error : tooMuch(length, most);
    }
    throw error;
  } finally {
    state.fields = { ...state.fields, "Upload-Offset": String(session.offset) };
  }
}

function tooMuch(length: number | undefined, most: number): Refusal | UploadError {
  if (length !== undefined) return inconsistentLength(`More came than the ${length} bytes that the upload has`);
  return new UploadError("TOO_LARGE", `The upload has more than the ${most} bytes that are still accepted`);
}

/** Returns the length and digests of this request's content alone. */
function contentOf({ request, settings }: Exchange): Announced {
  const announced = announcedOf(request.source, { ...settings.save, maxBytes: Infinity });
  return { ...announced, digests: new Map([...announced.digests].filter(([field]) => field === "Content-Digest")) };
}

/** Stores the representation, and responds as its target would to a single request. */
async function finish(exchange: Exchange, session: OpenSession, draft: Draft, state: State): Promise<Answer> {
  const { length } = session.record;
  const { offset } = session;
  if (length !== undefined && length !== offset) {
    throw inconsistentLength(`The upload is said to be complete after ${offset} of its ${length} bytes`);
  }
  const fields = { "Upload-Offset": String(offset), ...completeness(true) };
  const location = locationOf(exchange.settings, exchange.request, session.id);
  try {
    const answer = await complete(exchange, session);
    const { Location: file } = answer.fields;
    // Early drafts allow the field to name the upload in these responses, too.
    const places: Fields = draft.version > 6 || file === undefined
      ? {}
      : { Location: location, "Content-Location": file };
    return { ...answer, fields: { ...answer.fields, ...fields, ...places } };
  } catch (error) {
    if (!isFinal(error)) throw error;
    state.fields = fields;
    await session.remove();
    throw error;
  }
}

async function tellOffset(exchange: Exchange, id: string, draft: Draft, state: State): Promise<Answer> {
  return await withSession(exchange, id, "rufh", async ({ session }) => {
    // The server was killed while it stored the file.
    if (session.record.state === "storing") await finish(exchange, session, draft, state);
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

function filenameOf(disposition: string | undefined): string | undefined {
  const parameters = disposition === undefined ? undefined : parseParameters(disposition, "backslash")?.parameters;
  return decodeExtended(parameters?.get("filename*") ?? "") ?? parameters?.get("filename");
}

/** Sends an interim response if the sender has named a supported version: other clients might misinterpret it. */
function inform({ request }: Exchange, { version, isNamed }: Draft, fields: Fields): boolean {
  return isNamed && request.inform?.(104, { "Upload-Draft-Interop-Version": String(version), ...fields }) === true;
}

/** Whether a body can be kept as received and stored later; false for forms and bodies to decode. */
function isResumable({ save }: Settings, request: Exchange["request"]): boolean {
  const isForm = request.method === "POST" && contentTypeOf({ request }) === "multipart/form-data";
  return !isForm && !(save.decode && requestField({ request }, "content-encoding") !== undefined);
}

/** Whether a request creates an upload. A complete body that is not resumable is stored like that of an ordinary request. */
export function createsByDraft(settings: Settings, request: Exchange["request"]): boolean {
  if (request.method !== "PUT" && request.method !== "POST") return false;
  const isComplete = askedComplete({ request });
  return isComplete !== undefined && (!isComplete || isResumable(settings, request));
}
