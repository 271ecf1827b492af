import { make, type ReturnValue } from "multipasta/HeadersParser";
import { Buffer } from "node:buffer";
import { quoted, UploadError } from "../body/upload_error.ts";
import { type FormSettings, malformed, tooLarge } from "./form_options.ts";

/** The escape of a quote within a quoted value: a backslash (RFC 9110), or `%22` as in browsers. */
type Quoting = "backslash" | "browser";

const valuePattern = /[^;]*/y;
const namePattern = /[ \t]*;[ \t]*([^\s;="]+)[ \t]*=[ \t]*/y;
const tokenPattern = /[^\s;"][^;"]*/y;
const endPattern = /[ \t]*(?:;|$)/y;

/** Parses a value and its parameters, by names in lower case; undefined if they are malformed, or one occurs twice. */
export function parseParameters(
  field: string,
  quoting: Quoting,
): { readonly value: string; readonly parameters: ReadonlyMap<string, string> } | undefined {
  const text = field.trim().replace(/;$/, "").trimEnd();
  const value = take(valuePattern, text, 0)![0];
  const parameters = new Map<string, string>();
  let index = value.length;
  while (index < text.length) {
    const name = take(namePattern, text, index);
    if (name === undefined) return undefined;
    index += name[0].length;
    const isQuoted = text[index] === '"';
    const end = isQuoted
      ? quoteEnd(text, index + 1, quoting)
      : take(tokenPattern, text, index) && tokenPattern.lastIndex;
    const key = name[1].toLowerCase();
    if (end === undefined || parameters.has(key)) return undefined;
    const own = text.slice(index, end);
    parameters.set(key, isQuoted ? unquoted(own.slice(1, -1), quoting) : own.trimEnd());
    index = end;
  }
  return { value: value.trim().toLowerCase(), parameters };
}

function take(pattern: RegExp, text: string, index: number): RegExpExecArray | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text) ?? undefined;
}

function quoteEnd(text: string, start: number, quoting: Quoting): number | undefined {
  for (let index = start; index < text.length; index++) {
    if (text[index] === '"') {
      return take(endPattern, text, index + 1) === undefined ? undefined : index + 1;
    }
    if (text[index] !== "\\") continue;
    // Browsers do not escape with a backslash; other senders write `\\"` for a quote.
    const isQuote = text[index + 1] === '"' && take(endPattern, text, index + 2) === undefined;
    if (quoting === "backslash" || isQuote) index++;
  }
  return undefined;
}

function unquoted(text: string, quoting: Quoting): string {
  // Browsers send no quotes in values; senders that write \" also write \\.
  return quoting === "backslash" || text.includes('"') ? text.replace(/\\([\s\S])/g, "$1") : text;
}

export interface PartHeader {
  readonly name: string;
  /** The name of the file; undefined if the part is a text. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

type Fields = Record<string, string | string[]>;

/** Parses the header of a part up to the empty line; parts are numbered from 1. */
export function parsePartHeader(block: Uint8Array, number: number, limits: FormSettings): PartHeader {
  const part = `part ${number}`;
  const fields = fieldsOf(block, part, limits);
  const coding = fieldOf(fields, "content-transfer-encoding", part)?.toLowerCase();
  if (coding !== undefined && !["7bit", "8bit", "binary"].includes(coding)) {
    // RFC 7578, section 4.7, deprecates the field. Stored without decoding, the file would not be the sender's.
    throw new UploadError("UNSUPPORTED", `The Content-Transfer-Encoding ${quoted(coding)} of ${part} is not accepted`);
  }
  const disposition = fieldOf(fields, "content-disposition", part);
  if (disposition === undefined) throw malformed(`${part} has no Content-Disposition`);
  const { name, filename } = namesOf(disposition, part);
  for (const [what, value = ""] of Object.entries({ name, filename })) {
    if (Buffer.byteLength(value) <= limits.maxNameBytes) continue;
    throw tooLarge(`The ${what} of ${part} has`, limits.maxNameBytes, "bytes", "maxNameBytes");
  }
  return { name, filename, contentType: fieldOf(fields, "content-type", part) || undefined };
}

function fieldsOf(block: Uint8Array, part: string, { maxHeaderBytes }: FormSettings): Fields {
  if (block.length === 2) throw malformed(`${part} has no header`);
  const result: ReturnValue = make()(block, 0);
  if (result._tag === "Headers" && result.endPosition === block.length) return result.headers;
  const reason = result._tag === "Failure" ? result.reason : undefined;
  if (reason === "TooManyHeaders") {
    throw new UploadError("TOO_LARGE", `The header of ${part} has more than the 100 fields that are accepted`);
  }
  // The parser of header fields counts some spaces twice.
  if (reason === "HeaderTooLarge") {
    throw tooLarge(`The header of ${part} has`, maxHeaderBytes, "bytes", "maxHeaderBytes");
  }
  throw malformed(`the header of ${part} is not made of fields with a name and a value (${reason ?? "unfinished"})`);
}

function fieldOf(fields: Fields, name: string, part: string): string | undefined {
  const value = fields[name];
  if (Array.isArray(value)) throw malformed(`${part} has ${value.length} fields ${name}`);
  // deno-lint-ignore no-control-regex -- a bare CR could pass for a line end elsewhere
  if (value !== undefined && /[\0-\x08\x0a-\x1f\x7f]/.test(value)) {
    throw malformed(`the field ${name} of ${part} has control characters: ${quoted(value)}`);
  }
  return value?.trim();
}

/** Returns the names in a `Content-Disposition` (RFC 7578, section 4.2). */
function namesOf(disposition: string, part: string): { name: string; filename: string | undefined } {
  const message = `the Content-Disposition of ${part}, ${quoted(disposition)},`;
  // A quote that `curl --form-escape` writes as \\" may precede a semicolon, which would end a browser's value.
  const parsed = parseParameters(disposition, "browser") ?? parseParameters(disposition, "backslash");
  if (parsed === undefined) throw malformed(`${message} cannot be read`);
  if (parsed.value !== "form-data") throw malformed(`${message} is not form-data`);
  const name = parsed.parameters.get("name");
  if (name === undefined) throw malformed(`${message} has no name`);
  const extended = parsed.parameters.get("filename*");
  const plain = parsed.parameters.get("filename");
  // The escapes of browsers: see the HTML Standard, "multipart/form-data encoding algorithm".
  const unescaped = (name: string): string => name.replace(/%(?:22|0D|0A)/gi, decodeURIComponent);
  const filename = decodeExtended(extended ?? "") ?? (plain && unescaped(plain)) ?? extended;
  return { name: unescaped(name), filename };
}

/** Decodes a value of RFC 8187; undefined if it is malformed. RFC 7578 forbids them, but some senders use them. */
export function decodeExtended(text: string): string | undefined {
  const [, charset, value] = /^([^']*)'[^']*'(.*)$/.exec(text) ?? [];
  try {
    if (/^utf-8$/i.test(charset)) return decodeURIComponent(value);
  } catch {
    // The value is malformed.
  }
  return undefined;
}
