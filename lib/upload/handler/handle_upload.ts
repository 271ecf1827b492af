import { fieldOf } from "../body/body_source.ts";
import { admit, admitRequest, METHODS } from "./admission.ts";
import { type Answer, pathOf, problemAnswer, refusalOf, type UploadRequest, writeLog } from "./incoming.ts";
import type { Settings } from "./settings.ts";
import { pathBelow } from "./naming.ts";
import { again } from "../body/upload_error.ts";
import { answerDraft, createsByDraft } from "./resumable/draft.ts";
import { ID } from "../session/session_storage.ts";
import { type Exchange, type Fields, uploadLimit } from "./resumable/exchange.ts";
import { answerTus, CHECKSUMS, EXTENSIONS, VERSION } from "./resumable/tus.ts";
import { storeUpload } from "./reception.ts";

/** The value of `Access-Control-Request-Headers`: names of fields. */
const FIELD_NAMES = /^[!#$%&'*+.^_`|~\w-]+(?: *, *[!#$%&'*+.^_`|~\w-]+)*$/;

const TOLD = "Content-Location, Location, Repr-Digest, Retry-After, Tus-Checksum-Algorithm, Tus-Extension, " +
  "Tus-Max-Size, Tus-Resumable, Tus-Version, Upload-Complete, Upload-Concat, Upload-Defer-Length, Upload-Expires, " +
  "Upload-Length, Upload-Limit, Upload-Metadata, Upload-Offset";

/** The fields of requests that use an upload protocol; others may belong to another handler. */
const PROTOCOL_FIELDS = ["tus-resumable", "upload-draft-interop-version", "upload-offset", "upload-complete"];

/** The time in s for which browsers may cache the permission: a day, limited by Chromium to 2 hours. */
const PREFLIGHT_MAX_AGE = "86400";

export interface Handled {
  readonly answer: Answer;
  readonly bytes: number;
  /** Whether the connection closes with the response. */
  readonly isLast: boolean;
}

/** Answers a request, and writes to the log; calls `onOther` for a request that another handler may answer. Never rejects. */
export async function handleUpload(
  settings: Settings,
  request: UploadRequest,
  onOther?: () => void,
): Promise<Handled | undefined> {
  const start = performance.now();
  const { method } = request;
  const finish = (answer: Answer, error?: unknown): Handled => {
    const { bytes } = request;
    const entry = { method, path: pathOf(request), status: answer.status, bytes, ms: performance.now() - start };
    void writeLog(settings.log, error === undefined ? entry : { ...entry, error });
    const cors = settings.sessions === undefined ? {} : corsFields(settings, request);
    return { answer: { ...answer, fields: { ...answer.fields, ...cors } }, bytes, isLast: activity.isOver };
  };
  const { activity } = settings;
  return await activity.during(async () => {
    try {
      if (activity.isOver) throw again("The server is about to end");
      if (method === "OPTIONS" && pathBelow(request.target, settings.basePath) !== undefined) {
        return finish(optionsAnswer(settings));
      }
      const { sessions } = settings;
      const answer = sessions && await answerResumable({ settings, sessions, request });
      if (answer !== undefined) return finish(answer);
      const admission = admitRequest(settings, request, false);
      return finish(await storeUpload(settings, request, await admit(settings, request, admission)));
    } catch (error) {
      const refusal = refusalOf(error, settings.save);
      const isSpoken = PROTOCOL_FIELDS.some((name) => fieldOf(request.source, name) !== undefined);
      if (onOther !== undefined && !isSpoken && [403, 404, 415].includes(refusal.status)) return void onOther();
      return finish(problemAnswer(refusal), refusal.cause ?? refusal);
    }
  });
}

const SESSION_METHODS: readonly string[] = ["DELETE", "GET", "HEAD", "PATCH"];

/** Returns the effective method: clients without PATCH or DELETE send POST with `X-HTTP-Method-Override`. */
function methodOf({ method, source }: UploadRequest): string {
  if (method !== "POST" || fieldOf(source, "tus-resumable") === undefined) return method;
  return fieldOf(source, "x-http-method-override")?.trim().toUpperCase() ?? method;
}

/** Returns the session of a request; undefined if it has none. */
export function sessionFor({ basePath, sessions }: Settings, request: UploadRequest): string | undefined {
  const isSpoken = sessions !== undefined && SESSION_METHODS.includes(methodOf(request));
  const below = isSpoken ? pathBelow(request.target, basePath) ?? "" : "";
  return ID.test(below) ? below : undefined;
}

/** Answers a request of a protocol for resumable uploads; undefined if it uses neither. @throws {Refusal} */
async function answerResumable(exchange: Exchange): Promise<Answer | undefined> {
  const { settings, request } = exchange;
  const isTus = fieldOf(request.source, "tus-resumable") !== undefined;
  const id = sessionFor(settings, request);
  // A tus request never stores a file by its method alone: its body is upload data.
  const isCreation = isTus ? request.method === "POST" : createsByDraft(settings, request);
  if (id === undefined && !isCreation) return undefined;
  return isTus ? await answerTus(exchange, methodOf(request), id) : await answerDraft(exchange, id);
}

function optionsAnswer(settings: Settings): Answer {
  const { accept, sessions } = settings;
  const types = accept === undefined ? "*/*" : `multipart/form-data, ${accept}`;
  const fields = { Allow: sessions ? `DELETE, GET, HEAD, ${METHODS}, PATCH` : METHODS, "Accept-Post": types };
  const { maxBytes: maxSize } = settings.save;
  const protocols = sessions && {
    "Tus-Resumable": VERSION,
    "Tus-Version": VERSION,
    "Tus-Extension": EXTENSIONS,
    "Tus-Checksum-Algorithm": CHECKSUMS,
    ...(maxSize !== Infinity && { "Tus-Max-Size": String(maxSize) }),
    "Upload-Limit": uploadLimit(settings, undefined),
  };
  return { status: 204, fields: { ...fields, ...protocols }, body: undefined };
}

/** Returns the CORS fields for pages of allowed origins: any field, and cookies if the origin is listed. */
function corsFields({ allowedOrigins }: Settings, { method, source }: UploadRequest): Fields {
  const origin = fieldOf(source, "origin")?.trim();
  if (origin === undefined || allowedOrigins === false) return {};
  if (allowedOrigins !== true && !allowedOrigins.has(origin.toLowerCase())) return { Vary: "Origin" };
  const isPreflight = method === "OPTIONS" && fieldOf(source, "access-control-request-method") !== undefined;
  const names = fieldOf(source, "access-control-request-headers")?.trim() ?? "";
  return {
    Vary: isPreflight ? "Origin, Access-Control-Request-Headers" : "Origin",
    ...(allowedOrigins !== true && { "Access-Control-Allow-Credentials": "true" }),
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": TOLD,
    ...(isPreflight && {
      "Access-Control-Allow-Methods": "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT",
      ...(FIELD_NAMES.test(names) && { "Access-Control-Allow-Headers": names }),
      "Access-Control-Max-Age": PREFLIGHT_MAX_AGE,
    }),
  };
}
