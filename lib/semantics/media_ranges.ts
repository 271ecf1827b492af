import { described } from "../streams/internal.ts";
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = String.raw`"(?:[^"\\]|\\.)*"`;
const PARAMETER = `[ \\t]*;[ \\t]*(${TOKEN})=(${TOKEN}|${QUOTED})`;

/** A member: a media range, and its parameters (RFC 9110, section 12.5.1). */
const MEMBER = new RegExp(`^[ \\t]*(${TOKEN}/${TOKEN})((?:${PARAMETER})*)[ \\t]*$`);
const WEIGHT = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;

/** The maximum length of a member: longer ones are skipped, which keeps the time linear. */
const MAX_MEMBER_LENGTH = 256;

/** The ranges that include HTML, the most specific first: it decides. */
const RANGES = ["text/html", "text/*", "*/*"];

/**
 * Whether a request accepts HTML, by its `Accept` field; a missing or empty one accepts everything. Malformed members
 * are skipped; of several weights for a range the first counts.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1}
 */
export function acceptsHTML(field: string | null | undefined): boolean {
  if (!field) return true;
  const weights = new Map<string, number>();
  for (let start = 0; start <= field.length;) {
    const comma = field.indexOf(",", start);
    const end = comma < 0 ? field.length : comma;
    if (end - start <= MAX_MEMBER_LENGTH) readMember(field.slice(start, end), weights);
    start = end + 1;
  }
  const range = RANGES.find((each) => weights.has(each));
  return range !== undefined && weights.get(range)! > 0;
}

function readMember(member: string, weights: Map<string, number>): void {
  const match = MEMBER.exec(member);
  const range = match?.[1].toLowerCase();
  if (range === undefined || !RANGES.includes(range) || weights.has(range)) return;
  const weight = weightIn(match![2]);
  if (weight !== undefined) weights.set(range, weight);
}

function weightIn(parameters: string): number | undefined {
  for (const [, name, value] of parameters.matchAll(new RegExp(PARAMETER, "g"))) {
    if (name === "q" || name === "Q") return WEIGHT.test(value) ? Number(value) : undefined;
  }
  return 1;
}

/** A media type or range, such as `text/csv` or `image/*`, in lower case. */
const RANGE = new RegExp(`^${TOKEN}/${TOKEN}$`);

/** The accepted media types. */
export class MediaRanges {
  readonly #ranges: readonly string[];

  /** Parses media ranges of the option `name`, without weights or parameters. @throws {TypeError} if one is invalid. */
  constructor(accept: string | readonly string[], name = "accept") {
    const given: readonly unknown[] = typeof accept === "string" ? accept.split(",") : accept;
    const ranges = Array.isArray(given) && given.length > 0 ? given : [given];
    this.#ranges = ranges.map((range) => {
      const type = typeof range === "string" ? essenceOf(range) : "";
      if (RANGE.test(type) && (!type.startsWith("*/") || type === "*/*")) return type;
      const expected = `${name} must name media types, such as "image/*" or "text/csv"`;
      throw new TypeError(`${expected}, not ${described(range)}`);
    });
  }

  accepts(contentType: string): boolean {
    const type = essenceOf(contentType);
    const group = `${type.slice(0, type.indexOf("/"))}/*`;
    return this.#ranges.some((range) => range === type || range === group || range === "*/*");
  }

  toString(): string {
    return this.#ranges.join(", ");
  }
}

/** Returns a media type without its parameters, in lower case. */
export function essenceOf(contentType: string): string {
  const end = contentType.indexOf(";");
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}
