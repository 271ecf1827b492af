import { Buffer } from "node:buffer";

/** A value of a member or an item: the bytes of a byte sequence; undefined for a value of any other type. */
type DictionaryValue = Uint8Array | undefined;

const KEY = /[a-z*][a-z0-9_.*-]*/y;
const BYTES = /:([A-Za-z0-9+/]*)(={0,2}):/y;
const DISPLAY_STRING = /%"((?:[ !#$&-~]|%[0-9a-f]{2})*)"/y;
/** Patterns of the other bare items, whose values are not needed: numbers and dates, strings, tokens, booleans. */
const OTHERS = [
  /-?(?:\d{1,12}\.\d{1,3}|\d{1,15})/y,
  /@-?\d{1,15}/y,
  /"(?:[ !#-[\]-~]|\\["\\])*"/y,
  /[A-Za-z*][A-Za-z0-9:/!#$%&'*+.^_`|~-]*/y,
  /\?[01]/y,
];
const SPACES = / */y;
const OPTIONAL_WHITESPACE = /[ \t]*/y;

/**
 * Parses a Structured Fields dictionary and returns its byte sequences, the last one of each key; all members must be
 * valid. Base64 may lack its padding and may have non-zero pad bits, as the standard recommends.
 * @throws {SyntaxError} with the fault and its position.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9651#section-4.2.2}
 */
export function parseDictionary(text: string): Map<string, DictionaryValue> {
  return new Parser(text).dictionary();
}

/** Parses an item that should be a byte sequence, like a member in {@linkcode parseDictionary} (RFC 9651, 4.2). */
export function parseItem(text: string): DictionaryValue {
  return new Parser(text).item();
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  dictionary(): Map<string, DictionaryValue> {
    const members = new Map<string, DictionaryValue>();
    this.#take(SPACES);
    while (this.#at < this.#text.length) {
      members.set(this.#key(), this.#member());
      this.#take(OPTIONAL_WHITESPACE);
      if (this.#at === this.#text.length) break;
      if (!this.#skip(",")) throw this.#error('","');
      this.#take(OPTIONAL_WHITESPACE);
      if (this.#at === this.#text.length) throw this.#error("a member after the comma");
    }
    return members;
  }

  item(): DictionaryValue {
    this.#take(SPACES);
    const value = this.#bareItem();
    this.#parameters();
    this.#take(SPACES);
    if (this.#at < this.#text.length) throw this.#error("the end");
    return value;
  }

  #key(): string {
    const key = this.#take(KEY);
    if (key === undefined) throw this.#error("a key");
    return key[0];
  }

  /** Parses the value and parameters after a key; a missing value means the boolean true. */
  #member(): DictionaryValue {
    let value: DictionaryValue;
    if (this.#skip("=")) value = this.#skip("(") ? this.#innerList() : this.#bareItem();
    this.#parameters();
    return value;
  }

  #innerList(): undefined {
    this.#take(SPACES);
    while (!this.#skip(")")) {
      this.#bareItem();
      this.#parameters();
      const spaces = this.#take(SPACES)![0];
      if (spaces === "" && this.#text[this.#at] !== ")") throw this.#error('" " or ")"');
    }
  }

  #parameters(): void {
    while (this.#skip(";")) {
      this.#take(SPACES);
      this.#key();
      if (this.#skip("=")) this.#bareItem();
    }
  }

  #bareItem(): DictionaryValue {
    const bytes = this.#take(BYTES);
    if (bytes) return this.#decoded(bytes[1]!, bytes[2]!);
    const display = this.#take(DISPLAY_STRING);
    if (display) return this.#requireUtf8(display[1]!);
    if (!OTHERS.some((pattern) => this.#take(pattern))) throw this.#error("a value");
    return undefined;
  }

  #decoded(base64: string, padding: string): Uint8Array {
    const isWhole = base64.length % 4 !== 1 && (padding === "" || (base64.length + padding.length) % 4 === 0);
    if (!isWhole) throw new SyntaxError(`base64 of no whole number of bytes before position ${this.#at}`);
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  }

  #requireUtf8(text: string): undefined {
    try {
      decodeURIComponent(text);
    } catch (cause) {
      throw new SyntaxError(`a display string that is not UTF-8 before position ${this.#at}`, { cause });
    }
  }

  /** Takes the text that the sticky `pattern` matches here, and moves behind it. */
  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match) this.#at += match[0].length;
    return match ?? undefined;
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #error(expected: string): SyntaxError {
    const found = this.#at < this.#text.length ? JSON.stringify(this.#text[this.#at]) : "the end";
    return new SyntaxError(`${expected} is missing at position ${this.#at}, where ${found} is`);
  }
}

/** Parses an item that should be a boolean; undefined if it is missing or malformed (RFC 9651, 3.3.6). */
export function parseBoolean(field: string | undefined): boolean | undefined {
  const value = bareItemOf(field, /^ *\?([01])(?=[ ;]|$)/);
  return value === undefined ? undefined : value === "1";
}

/** Parses an item that should be a whole number from 0; undefined for anything else (RFC 9651, 3.3.1). */
export function parseNaturalNumber(field: string | undefined): number | undefined {
  const value = bareItemOf(field, /^ *(-?\d{1,15})(?=[ ;]|$)/);
  return value === undefined || Number(value) < 0 ? undefined : Math.abs(Number(value));
}

function bareItemOf(field: string | undefined, pattern: RegExp): string | undefined {
  const value = pattern.exec(field ?? "")?.[1];
  if (value === undefined) return undefined;
  try {
    parseItem(field!);
    return value;
  } catch {
    return undefined;
  }
}

/** A digest algorithm; broken algorithms are deprecated and not accepted. */
export type DigestAlgorithm = "sha-256" | "sha-512";

/** The length in bytes of each algorithm's digests. */
const lengths: ReadonlyMap<DigestAlgorithm, number> = new Map([["sha-256", 32], ["sha-512", 64]]);

export const ALGORITHMS: readonly DigestAlgorithm[] = [...lengths.keys()];

/**
 * Parses the value of `Content-Digest` or `Repr-Digest`, whose lines are joined by commas, to digests in canonical
 * base64. Members of other algorithms are ignored, as the standard allows.
 * @throws {SyntaxError} if the value is malformed anywhere, or a digest has the wrong length.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9530#section-2}
 */
export function parseDigests(value: string): Map<DigestAlgorithm, string> {
  const members = parseDictionary(value);
  const digests = new Map<DigestAlgorithm, string>();
  for (const [algorithm, length] of lengths) {
    if (!members.has(algorithm)) continue;
    const bytes = members.get(algorithm);
    if (bytes?.length !== length) {
      const found = bytes ? `has ${bytes.length}` : "is no byte sequence";
      throw new SyntaxError(`${algorithm} has ${length} bytes, this one ${found}`);
    }
    digests.set(algorithm, Buffer.from(bytes).toString("base64"));
  }
  return digests;
}

/** Returns a member of `Content-Digest` and `Repr-Digest`: `sha-256=:…:` (RFC 9651, section 4.1.8). */
export function formatDigest(algorithm: DigestAlgorithm, base64: string): string {
  return `${algorithm}=:${base64}:`;
}
