import { parseBoolean, parseNaturalNumber } from "../../../semantics/mod.ts";
import { Refusal } from "../../body/upload_error.ts";
import { asked, type Exchange, type Fields } from "./exchange.ts";

/** The newest interop version, of draft 11. */
const NEWEST = 8;
/** The interop versions that are known besides: those of iOS 17, of `tus-js-client`, and of that and iOS 18 to 26. */
const SPOKEN: readonly number[] = [3, 5, 6];

const PROBLEMS = "https://iana.org/assignments/http-problem-types#";

/** The iteration of Resumable Uploads for HTTP that a request speaks. */
export interface Draft {
  readonly version: number;
  /** Whether the sender named it, without which no interim response is sent. */
  readonly isNamed: boolean;
}

/** The iteration that a request speaks: the newest, unless it names another that is known. */
export function draftOf(exchange: Pick<Exchange, "request">): Draft {
  const version = parseNaturalNumber(asked(exchange, "upload-draft-interop-version"));
  const isNamed = version !== undefined && [...SPOKEN, NEWEST].includes(version);
  return { version: isNamed ? version : NEWEST, isNamed };
}

/** Whether the request completes the upload, as it says itself; undefined if it says nothing. */
export function askedComplete(exchange: Pick<Exchange, "request">, { version }: Draft): boolean | undefined {
  if (version > 3) return parseBoolean(asked(exchange, "upload-complete"));
  const isIncomplete = parseBoolean(asked(exchange, "upload-incomplete"));
  return isIncomplete === undefined ? undefined : !isIncomplete;
}

export function completeness(isComplete: boolean, { version }: Draft): Fields {
  return version > 3
    ? { "Upload-Complete": isComplete ? "?1" : "?0" }
    : { "Upload-Incomplete": isComplete ? "?0" : "?1" };
}

/** @throws {Refusal} if the request has fields that only those with data may have, as drafts before 06 require. */
export function requireNoUploadFields(exchange: Exchange, { version }: Draft): void {
  if (version > 6) return;
  const name = ["upload-offset", "upload-complete", "upload-incomplete", "upload-length"]
    .find((name) => asked(exchange, name) !== undefined);
  if (name === undefined) return;
  throw new Refusal("BAD_FIELD", `A ${exchange.request.method} request must not have the field ${name}`);
}

/** The refusal of data that begins elsewhere than what is here ends. */
export function mismatchingOffset(expected: number, provided: number): Refusal {
  const message = `The upload is continued at ${provided}, but ${expected} bytes of it are here`;
  return new Refusal("OFFSET_MISMATCH", message, {}, undefined, {
    type: `${PROBLEMS}mismatching-upload-offset`,
    "expected-offset": expected,
    "provided-offset": provided,
  });
}

export function inconsistentLength(message: string): Refusal {
  const type = `${PROBLEMS}inconsistent-upload-length`;
  return new Refusal("INCONSISTENT_LENGTH", message, {}, undefined, { type });
}

export function alreadyComplete(): Refusal {
  const type = `${PROBLEMS}completed-upload`;
  return new Refusal("COMPLETED", "The upload is complete: nothing can be appended", {}, undefined, { type });
}
