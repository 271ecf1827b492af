/** The places in a module's code that are not code. */
export interface CodeMarks {
  readonly comments: readonly Span[];
  /** Strings, the texts of templates, and regular expressions, with their delimiters. */
  readonly texts: readonly Span[];
}

/** A part of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Finds the comments, strings, templates and regular expressions of a module. */
export function codeMarks(code: string): CodeMarks {
  const comments: Span[] = [];
  const texts: Span[] = [];
  const braces: number[] = []; // open braces within each template that is open
  let at = 0;
  while (at < code.length) {
    const start = at;
    if (code.startsWith("//", at)) {
      at = orEnd(code, code.indexOf("\n", at));
      comments.push({ start, end: at });
    } else if (code.startsWith("/*", at)) {
      at = orEnd(code, code.indexOf("*/", at + 2) + 2 || -1);
      comments.push({ start, end: at });
    } else if (code[at] === '"' || code[at] === "'" || (code[at] === "/" && startsRegExp(code, at))) {
      at = endOfText(code, at);
      texts.push({ start, end: at });
    } else if (code[at] === "`" || (code[at] === "}" && braces.at(-1) === 0)) {
      if (code[at] === "}") braces.pop();
      at = endOfTemplate(code, at + 1);
      if (code.startsWith("${", at - 2)) braces.push(0);
      texts.push({ start, end: at });
    } else {
      if (braces.length > 0 && code[at] === "{") braces[braces.length - 1]++;
      if (braces.length > 0 && code[at] === "}") braces[braces.length - 1]--;
      at++;
    }
  }
  return { comments, texts };
}

/** Returns the code with blanks in the place of comments and texts. */
export function codeOnly(code: string, { comments, texts }: CodeMarks = codeMarks(code)): string {
  let bare = code;
  for (const { start, end } of [...comments, ...texts]) {
    bare = bare.slice(0, start) + code.slice(start, end).replace(/[^\n]/g, " ") + bare.slice(end);
  }
  return bare;
}

/** Whether a slash begins a regular expression: where a value may begin. */
function startsRegExp(code: string, at: number): boolean {
  const before = code.slice(0, at).trimEnd();
  return before === "" || /[(,=:[!&|?{};+\-*%<>~^]$|\b(?:return|typeof|case|in|of|await|yield)$/.test(before);
}

function endOfText(code: string, start: number): number {
  const mark = code[start];
  let inClass = false; // a slash in brackets does not end a regular expression
  for (let at = start + 1; at < code.length && code[at] !== "\n"; at++) {
    if (code[at] === "\\") at++;
    else if (mark === "/" && code[at] === "[") inClass = true;
    else if (mark === "/" && code[at] === "]") inClass = false;
    else if (code[at] === mark && !inClass) return at + 1;
  }
  return orEnd(code, code.indexOf("\n", start));
}

/** Returns the end of a template's text: behind its backtick, or behind the `${` of its next value. */
function endOfTemplate(code: string, from: number): number {
  for (let at = from; at < code.length; at++) {
    if (code[at] === "\\") at++;
    else if (code[at] === "`") return at + 1;
    else if (code.startsWith("${", at)) return at + 2;
  }
  return code.length;
}

function orEnd(code: string, index: number): number {
  return index < 0 ? code.length : index;
}
