import { Buffer } from "node:buffer";
import { make, type ReturnValue } from "multipasta/HeadersParser";
import { UploadError } from "../body/upload_error.ts";
import { parseParameters } from "./field_parameters.ts";
import { malformed, shown, tooLarge } from "./form_errors.ts";
import type { FormLimits } from "./form_options.ts";

/** The parsed header of a part. */
export interface PartHeader {
  /** The name of the form's field. */
  readonly name: string;
  /** The name of the file; undefined if the part is a text. */
  readonly filename: string | undefined;
  /** The type of the file; undefined if none is given. */
  readonly contentType: string | undefined;
}

type Fields = Record<string, string | string[]>;

/** How a part may be coded for its transfer: not at all. */
const identities = ["7bit", "8bit", "binary"];

/** Reads headers of parts. */
export class PartHeaderParser {
  readonly #limits: FormLimits;
  readonly #parse: (block: Uint8Array, start: number) => ReturnValue = make();

  constructor(limits: FormLimits) {
    this.#limits = limits;
  }

  /**
   * Reads the header of the part with this number, from 1 on.
   *
   * @param block All fields, each with its line end, and the empty line.
   * @throws {UploadError} if it is malformed, or a name too long.
   */
  parse(block: Uint8Array, number: number): PartHeader {
    const part = `part ${number}`;
    const fields = this.#fieldsOf(block, part);
    const coding = fieldOf(fields, "content-transfer-encoding", part)?.toLowerCase();
    if (coding !== undefined && !identities.includes(coding)) {
      // RFC 7578, section 4.7: not used any more. Stored as it is, the file would be another than the sender meant.
      throw new UploadError("UNSUPPORTED", `The Content-Transfer-Encoding ${shown(coding)} of ${part} is not accepted`);
    }
    const disposition = fieldOf(fields, "content-disposition", part);
    if (disposition === undefined) throw malformed(`${part} has no Content-Disposition`);
    const { name, filename } = namesOf(disposition, part);
    this.#requireLength(name, `The name of ${part} has`);
    this.#requireLength(filename ?? "", `The filename of ${part} has`);
    return { name, filename, contentType: fieldOf(fields, "content-type", part) || undefined };
  }

  #fieldsOf(block: Uint8Array, part: string): Fields {
    if (block.length === 2) throw malformed(`${part} has no header`);
    const result = this.#parse(block, 0);
    if (result._tag === "Headers" && result.endPosition === block.length) return result.headers;
    const reason = result._tag === "Failure" ? result.reason : undefined;
    if (reason === "TooManyHeaders") {
      throw new UploadError("TOO_LARGE", `The header of ${part} has more than the 100 fields that are accepted`);
    }
    if (reason === "HeaderTooLarge") { // some blanks count twice there
      throw tooLarge(`The header of ${part} has`, this.#limits.maxHeaderBytes, "bytes", "maxHeaderBytes");
    }
    throw malformed(`the header of ${part} is not made of fields with a name and a value (${reason ?? "unfinished"})`);
  }

  #requireLength(name: string, what: string): void {
    const { maxNameBytes } = this.#limits;
    if (Buffer.byteLength(name) > maxNameBytes) throw tooLarge(what, maxNameBytes, "bytes", "maxNameBytes");
  }
}

function fieldOf(fields: Fields, name: string, part: string): string | undefined {
  const value = fields[name];
  if (Array.isArray(value)) throw malformed(`${part} has ${value.length} fields ${name}`);
  // deno-lint-ignore no-control-regex -- a bare CR could pass for a line end elsewhere
  if (value !== undefined && /[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw malformed(`the field ${name} of ${part} has control characters: ${shown(value)}`);
  }
  return value?.trim();
}

/** The names that a `Content-Disposition` gives (RFC 7578, section 4.2). */
function namesOf(disposition: string, part: string): { name: string; filename: string | undefined } {
  const words = `the Content-Disposition of ${part}, ${shown(disposition)},`;
  const parsed = parseParameters(disposition, "browser");
  if (parsed === undefined) throw malformed(`${words} cannot be read`);
  if (parsed.value !== "form-data") throw malformed(`${words} is not form-data`);
  const name = parsed.parameters.get("name");
  if (name === undefined) throw malformed(`${words} has no name`);
  const extended = parsed.parameters.get("filename*");
  const filename = parsed.parameters.get("filename");
  if (extended === undefined) return { name: unescaped(name), filename: filename && unescaped(filename) };
  const decoded = decodeExtended(extended);
  if (decoded === undefined) throw malformed(`${words} has a filename* that cannot be read`);
  return { name: unescaped(name), filename: decoded };
}

/** Undoes what browsers and `fetch()` do to names. See the HTML Standard, "multipart/form-data encoding algorithm". */
function unescaped(name: string): string {
  return name.replace(/%(?:22|0D|0A)/gi, decodeURIComponent);
}

/** A value of RFC 8187. Forms ought not to have one (RFC 7578, section 4.2), but there are senders that do. */
function decodeExtended(text: string): string | undefined {
  const [, charset, value] = /^([^']*)'[^']*'(.*)$/.exec(text) ?? [];
  try {
    if (/^utf-8$/i.test(charset)) return decodeURIComponent(value);
    if (/^iso-8859-1$/i.test(charset)) {
      return value.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    }
  } catch {
    // malformed, told by the caller
  }
  return undefined;
}
