import process from "node:process";

/** The source of the regular expression that picomatch makes of an invalid pattern. */
const NEVER = "$^";

/**
 * The backslashes of a pattern that separate the parts of a path on Windows. The last one before a bracket escapes it;
 * `!`, `+` and `@` are escaped only where they begin a part.
 */
const SEPARATORS = /\\+(?![\\[\]{}()!+@])|\\+(?=\\[[\]{}()])|(?<=[^\\/])\\+(?=[!+@])/g;

/** An escaped opening brace with an unescaped closing one, both text for picomatch: the backslash is a separator. */
const HALF_ESCAPED = /^(?:[^\\{]|\\[^{])*\\\{(?:[^\\{}]|\\[^}])*\}/s;

/**
 * Returns a function that checks whether a path, with slashes, matches one of the patterns. On Windows these may have
 * backslashes.
 *
 * @param option The name of the patterns' option, for messages.
 * @throws {TypeError} if a pattern is invalid: it would silently match nothing.
 */
export async function matcherOf(option: string, patterns: readonly string[]): Promise<(path: string) => boolean> {
  if (patterns.length === 0) return () => false;
  const { default: picomatch } = await import("picomatch");
  const plain = patterns.map((each) => isWindows() && typeof each === "string" ? each.replace(SEPARATORS, "/") : each);
  for (const pattern of plain) {
    const fault = faultOf(pattern, (text) => picomatch.makeRe(text, { dot: true, strictBrackets: true }));
    if (fault !== undefined) throw new TypeError(`${option} ${JSON.stringify(pattern)} is no pattern: ${fault}`);
  }
  return picomatch(plain, { dot: true });
}

function faultOf(pattern: string, parse: (text: string) => RegExp): string | undefined {
  if (typeof pattern !== "string") return "use a string, such as assets/*.js";
  if (pattern === "") return "it is empty; all paths match **";
  try {
    if (isWindows() && HALF_ESCAPED.test(pattern)) throw new SyntaxError('Missing opening: "{"');
    return parse(pattern).source === NEVER ? "nothing can match it" : undefined;
  } catch (error) {
    const { message } = error as Error;
    if (!/^Missing /.test(message)) return message;
    const advice = "one of its brackets lacks the other; put a backslash before one that stands for itself";
    return isWindows() && pattern.includes("\\") ? `${advice}, and a slash between a folder and a bracket` : advice;
  }
}

function isWindows(): boolean {
  return process.platform === "win32";
}
