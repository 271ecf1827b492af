import { type BodySource, fieldOf } from "../body_source.ts";
import { UploadError } from "../upload_error.ts";
import { parseParameters } from "./field_parameters.ts";
import { malformed, shown } from "./form_errors.ts";

/** What a boundary may be made of: RFC 2046, section 5.1.1, and what senders use besides. */
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
  return boundary;
}
