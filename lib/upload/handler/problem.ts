import { ACCEPTED_CODINGS } from "../body/decoded_body.ts";
import { UploadError, type UploadErrorCode, uploadStatuses } from "../body/upload_error.ts";
import { type Answer, jsonAnswer } from "./incoming.ts";

/** The reasons to refuse a request besides those of {@linkcode UploadErrorCode}, and their statuses. */
const ownStatuses = {
  BAD_FIELD: 400,
  BUSY: 503,
  CHECKSUM_MISMATCH: 460,
  COMPLETED: 400,
  CROSS_SITE: 403,
  FINAL: 403,
  INCONSISTENT_LENGTH: 400,
  INTERNAL: 500,
  LOCKED: 423,
  METHOD_NOT_ALLOWED: 405,
  NO_FOLDER: 409,
  NOT_FOUND: 404,
  OFFSET_MISMATCH: 409,
  PARTIAL_PUT: 400,
  PRECONDITION_FAILED: 412,
  SUPERSEDED: 409,
  TRANSFER_CODING: 501,
  UNKNOWN_VERSION: 412,
} as const;

type RefusalCode = UploadErrorCode | keyof typeof ownStatuses;

const statuses: Readonly<Record<RefusalCode, number>> = { ...uploadStatuses, ...ownStatuses };

/** The titles of RFC 9110, of RFC 4918 for 423, and of tus for 460. */
const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  423: "Locked",
  460: "Checksum Mismatch",
  499: "Client Closed Request",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  507: "Insufficient Storage",
};

type Fields = Readonly<Record<string, string>>;

/** A request that is refused, with the words that its sender gets. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly fields: Fields;
  /** Additional members for programs; `type` tells them the meaning of the others. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    code: RefusalCode,
    message: string,
    fields: Fields = {},
    cause?: unknown,
    members: Readonly<Record<string, unknown>> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Refusal";
    this.code = code;
    this.status = statuses[code];
    this.fields = fields;
    this.members = members;
  }

  /** Returns the refusal with more fields, which do not replace its own. */
  withFields(fields: Fields): Refusal {
    return new Refusal(this.code, this.message, { ...fields, ...this.fields }, this.cause, this.members);
  }
}

/** A refusal for a reason that passes. */
export function again(reason: string, cause?: unknown): Refusal {
  return new Refusal("BUSY", `${reason}: try again`, { "Retry-After": "1" }, cause);
}

/** Converts an error into a refusal, which holds nothing that the sender must not know. */
export function refusalOf(error: unknown, options: { readonly decode?: boolean }): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof UploadError) return new Refusal(error.code, error.message, fieldsOf(error, options), error);
  const code = systemCodeOf(error);
  if (code === "EMFILE" || code === "ENFILE") {
    return again("The server has too many files open", error);
  }
  return new Refusal("INTERNAL", "The server could not store the upload", {}, error);
}

export function problemAnswer({ status, code, message, fields, members }: Refusal): Answer {
  const problem = { title: titles[status], status, detail: message, code, ...members };
  return jsonAnswer(status, "application/problem+json", fields, problem);
}

function fieldsOf({ code }: UploadError, { decode = false }: { readonly decode?: boolean }): Fields {
  if (code !== "UNSUPPORTED") return {};
  // Types are refused with fields of their own: this is about codings (RFC 9110, section 15.5.16).
  return { "Accept-Encoding": decode ? ACCEPTED_CODINGS : "identity" };
}

/** The file system's code of an error, or of what brought it about. */
function systemCodeOf(error: unknown): unknown {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  return code ?? (cause === undefined ? undefined : systemCodeOf(cause));
}
