import { type ContentCoding, contentCodingNames } from "../codecs/internal.ts";
import { UploadError } from "./upload_error.ts";

/** The most codings one upon the other: each takes its share of memory and time. */
const MOST_CODINGS = 3;

/** A run of spaces is looked at once, where it begins: else long ones would take quadratic time. */
const OUTER_SPACE = /^[ \t]+|(?<![ \t])[ \t]+$/g;

/** The codings that can be undone, as a value of `Accept-Encoding`, for answers of the status 415. */
export const ACCEPTED_CODINGS = "gzip, deflate, br, zstd";

/**
 * The codings of a `Content-Encoding` field in the order in which they were applied, without `identity`.
 *
 * @throws {UploadError} `UNSUPPORTED` if one is unknown, or there are more than three.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-8.4}
 */
export function contentCodings(field: string): ContentCoding[] {
  const found: ContentCoding[] = [];
  for (const element of field.split(",")) {
    const name = element.replace(OUTER_SPACE, "").toLowerCase();
    if (name === "" || name === "identity") continue; // RFC 9110, section 5.6.1.2: empty elements do not count
    const coding = contentCodingNames.get(name);
    if (coding === undefined) {
      const message = `The content coding ${JSON.stringify(name)} is not accepted: use ${ACCEPTED_CODINGS}`;
      throw new UploadError("UNSUPPORTED", message);
    }
    found.push(coding);
  }
  if (found.length > MOST_CODINGS) {
    const message = `The body has ${found.length} content codings, and at most ${MOST_CODINGS} are accepted`;
    throw new UploadError("UNSUPPORTED", message);
  }
  return found;
}
