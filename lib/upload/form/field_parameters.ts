/** A header field's value with parameters: `form-data; name="a"`. */
export interface ParameterizedValue {
  /** The text before the first parameter, in lower case. */
  readonly value: string;
  /** The parameters, by their names in lower case; the values as they were sent, without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** How a quoted value tells what would end it: by a backslash (RFC 9110), or in the way of browsers. */
export type Quoting = "backslash" | "browser";

const valuePattern = /[^;]*/y;
const namePattern = /[ \t]*;[ \t]*([^\s;="]+)[ \t]*=[ \t]*/y;
const tokenPattern = /[^\s;"][^;"]*/y;
const endPattern = /[ \t]*(?:;|$)/y;

/** Reads a value and its parameters; undefined if they are malformed, or one comes twice. */
export function parseParameters(field: string, quoting: Quoting): ParameterizedValue | undefined {
  const text = field.trim().replace(/;$/, "").trimEnd();
  const value = take(valuePattern, text, 0)![0];
  const parameters = new Map<string, string>();
  let index = value.length;
  while (index < text.length) {
    const name = take(namePattern, text, index);
    if (name === undefined) return undefined;
    index += name[0].length;
    const end = text[index] === '"' ? quoteEnd(text, index + 1, quoting) : tokenEnd(text, index);
    const key = name[1].toLowerCase();
    if (end === undefined || parameters.has(key)) return undefined;
    parameters.set(
      key,
      text[index] === '"' ? unquoted(text.slice(index + 1, end - 1), quoting) : text.slice(index, end).trimEnd(),
    );
    index = end;
  }
  return { value: value.trim().toLowerCase(), parameters };
}

function take(pattern: RegExp, text: string, index: number): RegExpExecArray | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text) ?? undefined;
}

function tokenEnd(text: string, index: number): number | undefined {
  const token = take(tokenPattern, text, index);
  return token && index + token[0].length;
}

/** Returns the index after the closing quote; undefined if there is none. */
function quoteEnd(text: string, start: number, quoting: Quoting): number | undefined {
  for (let index = start; index < text.length; index++) {
    if (text[index] === '"') {
      return take(endPattern, text, index + 1) === undefined ? undefined : index + 1;
    }
    if (text[index] === "\\" && isEscape(text, index, quoting)) index++;
  }
  return undefined;
}

/**
 * Whether a backslash is no character of its own. Browsers and `fetch()` send it as it is, so that one at the end of a
 * name stands before the closing quote; others write `\"` for a quote.
 */
function isEscape(text: string, index: number, quoting: Quoting): boolean {
  if (quoting === "backslash") return true;
  return text[index + 1] === '"' && take(endPattern, text, index + 2) === undefined;
}

function unquoted(text: string, quoting: Quoting): string {
  // A browser never sends a quote inside: who writes \" writes \\ too.
  return quoting === "backslash" || text.includes('"') ? text.replace(/\\([\s\S])/g, "$1") : text;
}
