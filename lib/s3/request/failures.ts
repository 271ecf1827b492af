import { parseHTTPDate } from "../../semantics/mod.ts";
import { S3Error, type S3ErrorCode } from "../s3_error.ts";
import type { XmlResponse } from "./xml.ts";

const MAX_RETRY_DELAY = 20_000;
/** The maximum pause in ms before the first retry. */
const FIRST_PAUSE = 100;
const MAX_TEXT_LENGTH = 300;
const NAME = /^[\w.-]{1,100}$/;
/** Characters that are not plain text for logs and terminals. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** The codes of transient failures, whatever their status. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  "BadDigest",
  "CHECKSUM_MISMATCH",
  "CONNECTION_FAILED",
  "IncompleteBody",
  "InternalError",
  "InvalidDigest",
  "MALFORMED_RESPONSE",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "TIMEOUT",
  "Throttling",
  "XAmzContentSHA256Mismatch",
]);
const EXPIRIES: ReadonlySet<string> = new Set(["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"]);
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
/** The codes of an `HttpClient`'s errors that a retry cannot change. */
const PERMANENT_CODES = /^(?:CERTIFICATE|CLIENT_CLOSED|INVALID|PROXY)/;

export interface Subject {
  readonly action: string;
  readonly key?: string | undefined;
  readonly bucket: string;
}

const askedPauses = new WeakMap<S3Error, number>();

export function isPassing(error: unknown): boolean {
  if (!(error instanceof S3Error)) return false;
  const { code } = (error.cause ?? {}) as { code?: unknown };
  if (error.code === "CONNECTION_FAILED" && typeof code === "string" && PERMANENT_CODES.test(code)) return false;
  return TRANSIENT_CODES.has(error.code) || (error.status !== undefined && TRANSIENT_STATUSES.has(error.status));
}

export function isExpiry(error: unknown): boolean {
  return error instanceof S3Error && EXPIRIES.has(error.code);
}

/** Whether a failure means that the object or upload is missing; not every store says which. */
export function isMissing(error: unknown): boolean {
  return error instanceof S3Error && error.status === 404 && error.code !== "NoSuchBucket";
}

/** Returns the pause in ms before a retry: random, so that clients that failed together do not retry together. */
export function pauseBefore(attempt: number, error: unknown): number {
  const asked = error instanceof S3Error ? askedPauses.get(error) ?? 0 : 0;
  return asked + Math.random() * Math.min(MAX_RETRY_DELAY, FIRST_PAUSE * 2 ** attempt);
}

export function answeredFailure(subject: Subject, response: Response, document: XmlResponse | undefined): S3Error {
  const { headers } = response;
  const told = document?.name === "Error" ? document : undefined;
  const given = told?.text("Code") ?? "";
  const named = statuses.find(([, status]) => status === response.status);
  const code = NAME.test(given) ? given : named?.[0] ?? `HTTP_${response.status}`;
  const status = (response.ok ? statuses.find(([name]) => name === code)?.[1] : undefined) ?? response.status;
  const words = plain(told?.text("Message"));
  const requestId = plain(headers.get("x-amz-request-id") ?? told?.text("RequestId"));
  const region = headers.get("x-amz-bucket-region") ?? "";
  const place = status < 500 && status !== 404 && NAME.test(region) ? ` (the bucket is in the region ${region})` : "";
  const message = `${titleOf(subject)}: the store answers ${status} ${code}${words ? `: ${words}` : ""}${place}`;
  const error = new S3Error(code, message, { status, requestId, key: subject.key });
  const asked = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(asked) ? Number(asked) * 1000 : (parseHTTPDate(asked) ?? 0) - Date.now();
  if (ms > 0) askedPauses.set(error, Math.min(MAX_RETRY_DELAY, ms));
  return error;
}

/** Returns a store's text in a form that is safe in a message. */
function plain(text: string | undefined): string | undefined {
  return text?.slice(0, MAX_TEXT_LENGTH).replace(CONTROLS, " ");
}

/** Codes and their statuses: the first code of a status is that of a response without a document, and the first status of a code that of an error after a 200. */
const statuses: readonly (readonly [code: string, status: number])[] = [
  ["PermanentRedirect", 301],
  ["TemporaryRedirect", 302],
  ["NotModified", 304],
  ["TemporaryRedirect", 307],
  ["PermanentRedirect", 308],
  ["AccessDenied", 403],
  ["NotFound", 404],
  ["NoSuchBucket", 404],
  ["NoSuchKey", 404],
  ["NoSuchUpload", 404],
  ["Conflict", 409],
  ["ConditionalRequestConflict", 409],
  ["PreconditionFailed", 412],
  ["InvalidRange", 416],
  ["InternalError", 500],
  ["ServiceUnavailable", 503],
  ["SlowDown", 503],
  ["SlowDown", 429],
];

/** Returns the failure of a request without a response, or with an incomplete one. */
export function brokenFailure(subject: Subject, code: S3ErrorCode, reason: string, cause?: unknown): S3Error {
  const { key } = subject;
  return new S3Error(code, `${titleOf(subject)}: ${reason}`, cause === undefined ? { key } : { key, cause });
}

function titleOf({ action, key, bucket }: Subject): string {
  const title = key === undefined ? action : `${action} ${JSON.stringify(key)}`;
  return `Cannot ${title} in the bucket ${bucket}`;
}
