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

/** A test of paths with slashes. */
export interface Matcher {
  (path: string): boolean;
  /** Returns warnings about the patterns that no tested path has matched. */
  readonly warnings?: () => string[];
}

/** Options of picomatch: a leading `!` would select all other paths, also beside other patterns, and is refused. */
const OPTIONS = { dot: true, nonegate: true };

/** A hint for patterns that match no file. */
export const HINT = "a pattern is for the whole path below the folder, as in assets/*.js, **/*.js or assets/";

/**
 * Returns a test whether a path matches one of the patterns. On Windows these may have backslashes. A pattern that ends
 * in a slash, or has no wildcard, also matches all paths below the folder that it names.
 *
 * @param option The name of the patterns' option, for messages.
 * @throws {TypeError} if a pattern is invalid: it would silently match nothing.
 */
export async function matcherOf(option: string, patterns: readonly string[]): Promise<Matcher> {
  if (patterns.length === 0) return () => false;
  const { default: picomatch } = await import("picomatch");
  const left = new Map<string, (path: string) => boolean>();
  const all = patterns.flatMap((given) => {
    const plain = isWindows() && typeof given === "string" ? given.replace(SEPARATORS, "/") : given;
    const fault = faultOf(plain, (text) => picomatch.makeRe(text, { ...OPTIONS, strictBrackets: true }));
    if (fault !== undefined) throw new TypeError(`${option} ${JSON.stringify(plain)} is no pattern: ${fault}`);
    const below = plain.replace(/^(?:\.?\/)+(?=.)/, "").replace(/\/$/, "/**");
    const forms = picomatch.scan(below, OPTIONS).isGlob ? [below] : [below, `${below}/**`];
    left.set(given, picomatch(forms, OPTIONS));
    return forms;
  });
  const isMatch = picomatch(all, OPTIONS);
  const matcher = (path: string): boolean => {
    for (const [pattern, matches] of left) if (matches(path)) left.delete(pattern);
    return isMatch(path);
  };
  const warningOf = (pattern: string) => `${option} ${JSON.stringify(pattern)} matches no file: ${HINT}`;
  return Object.assign(matcher, { warnings: () => [...left.keys()].map(warningOf) });
}

function faultOf(pattern: string, parse: (text: string) => RegExp): string | undefined {
  if (typeof pattern !== "string") return "use a string, such as assets/*.js";
  if (pattern === "") return "it is empty; all paths match **";
  if (/^!(?!\()/.test(pattern)) return "a leading ! takes nothing out; use exclude, or a group: !(members)/**";
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
