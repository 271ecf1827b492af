import { type BodySource, fieldOf } from "../body/body_source.ts";
import { UploadError } from "../body/upload_error.ts";
import { parseParameters } from "./field_parameters.ts";
import { malformed, shown } from "./form_errors.ts";

/** No sender is known whose boundaries do that. */
const MOST_REPETITIONS = 32;
/** A valid boundary: characters by RFC 2046, section 5.1.1, and others that senders use. */
const boundaryPattern = /^[!-~](?:[ -~]{0,68}[!-~])?$/;

/**
 * The boundary between the parts of a form.
 *
 * @param contentType The value of `Content-Type`, if the source has none.
 * @throws {UploadError} `UNSUPPORTED` if it is not the body of a form, or it is compressed and `decode` is false;
 * `MALFORMED` if the boundary is missing, or none.
 * @throws {TypeError} if nobody says of what type it is.
 */
export function boundaryOf(source: BodySource, contentType: string | undefined, decode: boolean): string {
  if (typeof source !== "object" || source === null) {
    throw new TypeError(`The source of a form must be a Request, a stream or a request of node, not ${String(source)}`);
  }
  const type = contentType ?? fieldOf(source, "content-type");
  if (type === undefined && !("headers" in source)) {
    throw new TypeError("A bare stream has no Content-Type: give the form's as the option contentType");
  }
  const coding = decode ? undefined : fieldOf(source, "content-encoding");
  if (coding && coding.trim().toLowerCase() !== "identity") {
    throw new UploadError("UNSUPPORTED", `A form with the Content-Encoding ${shown(coding)} is not accepted`);
  }
  if (!/^\s*multipart\/form-data\s*(?:;|$)/i.test(type ?? "")) {
    const words = type ? `not ${shown(type)}` : "and it has no Content-Type";
    throw new UploadError("UNSUPPORTED", `The body must be a form, multipart/form-data, ${words}`);
  }
  const boundary = parseParameters(type!, "backslash")?.parameters.get("boundary");
  if (boundary === undefined) throw malformed("its Content-Type does not say what the boundary of its parts is");
  if (!boundaryPattern.test(boundary)) {
    throw malformed(`its boundary ${shown(boundary)} is not 1 to 70 printable characters of ASCII`);
  }
  if (repetitions(`--${boundary}`) > MOST_REPETITIONS) {
    throw malformed(`its boundary ${shown(boundary)} repeats itself more than ${MOST_REPETITIONS} times`);
  }
  return boundary;
}

/**
 * How often a text repeats itself at its end. The library looks for boundaries from their ends, and where a body is
 * made of the same repetitions it compares that many bytes for each: 70 times `a` is looked for at 20 MB/s.
 */
function repetitions(text: string): number {
  let most = 1;
  for (let period = 1; period < text.length; period++) {
    let length = period;
    while (length < text.length && text.at(-1 - length) === text.at(-1 - length + period)) length++;
    most = Math.max(most, length / period);
  }
  return most;
}
