import type { Readable } from "node:stream";

/**
 * The code of an {@linkcode UploadError}. The page has a table of all, with their HTTP statuses; `ABORTED` is for logs,
 * since its sender gets no answer.
 *
 * @example Words of one's own for some of them
 * ```ts
 * import type { UploadErrorCode } from "@millrace/streams/upload";
 *
 * const words: Partial<Record<UploadErrorCode, string>> = { TOO_LARGE: "At most 4 bytes, please." };
 * console.log(words.TOO_LARGE); // At most 4 bytes, please.
 * ```
 */
export type UploadErrorCode =
  | "ABORTED"
  | "BAD_DIGEST"
  | "BAD_LENGTH"
  | "BAD_NAME"
  | "DIGEST_MISMATCH"
  | "EXISTS"
  | "MALFORMED"
  | "NO_SPACE"
  | "OUTSIDE_ROOT"
  | "TIMEOUT"
  | "TOO_LARGE"
  | "TRAILER_DIGEST"
  | "UNSUPPORTED";

const uploadStatuses: Readonly<Record<UploadErrorCode, number>> = {
  ABORTED: 499,
  BAD_DIGEST: 400,
  BAD_LENGTH: 400,
  BAD_NAME: 400,
  DIGEST_MISMATCH: 422,
  EXISTS: 409,
  MALFORMED: 400,
  NO_SPACE: 507,
  OUTSIDE_ROOT: 400,
  TIMEOUT: 408,
  TOO_LARGE: 413,
  TRAILER_DIGEST: 501,
  UNSUPPORTED: 415,
};

/**
 * The error of a refused or failed upload, with the HTTP status of the response. Its message may be shown to the
 * sender.
 *
 * @example Answer with its status
 * ```ts
 * import { saveBody, UploadError } from "@millrace/streams/upload";
 *
 * const request = new Request("http://localhost/", { method: "POST", body: "too long" });
 * try {
 *   await saveBody(request, "uploads/note.txt", { maxBytes: 4 });
 * } catch (error) {
 *   if (error instanceof UploadError) console.log(error.status, error.code); // 413 TOO_LARGE
 * }
 * ```
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-15.5}
 */
export class UploadError extends Error {
  /** The kind of error, for programs. */
  readonly code: UploadErrorCode;
  /** The HTTP status of the response. */
  readonly status: number;

  /** Makes an error with a code, and a message that the sender may read. */
  constructor(code: UploadErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "UploadError";
    this.code = code;
    this.status = uploadStatuses[code];
  }
}

/** The statuses of further reasons, which only the handler has. */
const handlerStatuses = {
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

type RefusalCode = UploadErrorCode | keyof typeof handlerStatuses;

type Members<T> = Readonly<Record<string, T>>;

/** A refused request: `members` are added to the problem in its answer, whose `type` identifies their meaning. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly fields: Members<string>;
  readonly members: Members<unknown>;

  constructor(
    code: RefusalCode,
    message: string,
    fields: Members<string> = {},
    cause?: unknown,
    members: Members<unknown> = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Refusal";
    this.code = code;
    this.status = { ...uploadStatuses, ...handlerStatuses }[code];
    this.fields = fields;
    this.members = members;
  }
}

/** Makes a refusal for a temporary reason: the client may retry. */
export function again(reason: string, cause?: unknown): Refusal {
  return new Refusal("BUSY", `${reason}: try again`, { "Retry-After": "1" }, cause);
}

/** Quotes a name from a sender, shortened to 120 characters, for messages. */
export function quoted(name: string): string {
  return JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
}

export function nameTaken(name: string, cause?: unknown): UploadError {
  const message = `Cannot store ${JSON.stringify(name)}: there is a file of that name`;
  return new UploadError("EXISTS", message, cause === undefined ? undefined : { cause });
}

export function nameLost(name: string): UploadError {
  return new UploadError("EXISTS", `${JSON.stringify(name)} was replaced or removed since the upload stored it`);
}

export function alreadyRead(): TypeError {
  return new TypeError("The body of the request has been read already: uploads come before body parsers");
}

export function leftError(cause: unknown): UploadError {
  return new UploadError("ABORTED", "The sender left before the end of the body", cause ? { cause } : undefined);
}

/** Whether the sender of a request is known to have left: the body has ended then, whichever code reads it. */
export function hasLeft(request: Readable): boolean {
  const { aborted, stream } = request as { aborted?: boolean; stream?: { aborted?: boolean } };
  return aborted === true || stream?.aborted === true;
}
