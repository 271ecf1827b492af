/** A media type or range, such as `text/csv` or `image/*`, in lower case. */
const RANGE = /^(?:\*\/\*|[!#$%&'*+.^_`|~\w-]+\/(?:\*|[!#$%&'*+.^_`|~\w-]+))$/;

/** The media types that are accepted. */
export class MediaRanges {
  readonly #ranges: readonly string[];

  /**
   * Takes what `Accept` may hold, as one text or in a list. Weights and parameters do not count.
   *
   * @throws {TypeError} if something else is in it, or nothing.
   */
  constructor(accept: string | readonly string[]) {
    const given: readonly unknown[] = typeof accept === "string" ? accept.split(",") : accept;
    if (!Array.isArray(given) || given.length === 0) throw notRanges(accept);
    this.#ranges = given.map((range) => {
      const type = typeof range === "string" ? essenceOf(range) : "";
      if (!RANGE.test(type) || type.startsWith("*/") && type !== "*/*") throw notRanges(range);
      return type;
    });
  }

  /** Whether files of this type are accepted. */
  accepts(contentType: string): boolean {
    const type = essenceOf(contentType);
    const group = `${type.slice(0, type.indexOf("/"))}/*`;
    return this.#ranges.some((range) => range === type || range === group || range === "*/*");
  }

  /** As a value of `Accept`. */
  toString(): string {
    return this.#ranges.join(", ");
  }
}

/** A media type without its parameters, in lower case. */
export function essenceOf(contentType: string): string {
  const end = contentType.indexOf(";");
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
}

function notRanges(value: unknown): TypeError {
  const found = typeof value === "string" ? JSON.stringify(value) : String(value);
  return new TypeError(`accept must name media types, such as "image/*" or "text/csv", not ${found}`);
}
