/** The source of the regular expression that picomatch makes of an invalid pattern. */
const NEVER = "$^";

/**
 * Returns a function that checks whether a path matches one of the patterns. @param option The name of their option,
 * for messages. @throws {TypeError} if one is invalid, which would match nothing without a hint.
 *
 * @param option The option that they are of, for messages.
 * @throws {TypeError} if one is no pattern, which would match nothing without a hint.
 */
export async function matcherOf(option: string, patterns: readonly string[]): Promise<(path: string) => boolean> {
  if (patterns.length === 0) return () => false;
  const { default: picomatch } = await import("picomatch");
  for (const pattern of patterns) {
    const fault = faultOf(pattern, (text) => picomatch.makeRe(text, { dot: true, strictBrackets: true }));
    if (fault !== undefined) throw new TypeError(`${option} ${JSON.stringify(pattern)} is no pattern: ${fault}`);
  }
  return picomatch([...patterns], { dot: true });
}

function faultOf(pattern: string, parse: (text: string) => RegExp): string | undefined {
  if (typeof pattern !== "string") return "use a string, such as assets/*.js";
  if (pattern === "") return "it is empty; all paths match **";
  try {
    return parse(pattern).source === NEVER ? "nothing can match it" : undefined;
  } catch (error) {
    const { message } = error as Error;
    if (!/^Missing /.test(message)) return message;
    return "one of its brackets lacks the other; put a backslash before one that stands for itself";
  }
}

/*
 * Patterns for paths, such as `assets/*.js`.
 */
