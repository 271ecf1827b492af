/**
 * Calls a function with ten calls below it, for one that has errors thrown while a module loads. Deno notes the innermost
 * ten calls of each: for the module's own place among them V8 parses the whole of it once more (5 of 12 ms of an import).
 */
export function farFromTop<T>(run: () => T, calls = 10): T {
  return calls === 0 ? run() : farFromTop(run, calls - 1);
}
