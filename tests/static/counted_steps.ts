/**
 * Counts the characters that string and expression methods looked at while `work` ran, at most. Time by the square of a
 * field's length shows here, on any machine. Reading single characters by index does not count.
 */
export async function countedSteps(work: () => Promise<void>): Promise<number> {
  let steps = 0;
  const restore: (() => void)[] = [];

  function count(
    prototype: object,
    name: PropertyKey,
    cost: (self: unknown, result: unknown, args: unknown[]) => number,
  ): void {
    const former = Object.getOwnPropertyDescriptor(prototype, name)!;
    const method = former.value as (...args: unknown[]) => unknown;
    const value = function (this: unknown, ...args: unknown[]): unknown {
      const self = this instanceof RegExp ? { lastIndex: this.lastIndex, sticky: this.sticky } : this;
      const result = method.apply(this, args);
      steps += cost(self, result, args);
      return result;
    };
    Object.defineProperty(prototype, name, { ...former, value });
    restore.push(() => Object.defineProperty(prototype, name, former));
  }

  const length = (text: unknown): number => String.prototype.valueOf.call(text).length;
  for (const name of ["charCodeAt", "codePointAt", "charAt", "at", "startsWith", "endsWith"]) {
    count(String.prototype, name, () => 1);
  }
  for (const name of ["slice", "substring", "substr"]) count(String.prototype, name, () => 1);
  for (const name of ["trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "normalize", "lastIndexOf"]) {
    count(String.prototype, name, length);
  }
  for (const name of ["split", "replace", "replaceAll", "match", "matchAll", "search"]) {
    count(String.prototype, name, length);
  }
  for (const name of ["indexOf", "includes"]) {
    count(String.prototype, name, (text, result, [, from]) => {
      const start = typeof from === "number" ? from : 0;
      return Math.max(1, (typeof result === "number" && result >= 0 ? result : length(text)) - start);
    });
  }
  count(RegExp.prototype, "exec", (before, result, [text]) => {
    const match = result as RegExpExecArray | null;
    if (match === null && (before as { sticky: boolean }).sticky) return 1;
    const end = match ? match.index + match[0].length : String(text).length;
    return Math.max(1, end - (before as { lastIndex: number }).lastIndex);
  });
  try {
    await work();
  } finally {
    for (const undo of restore.reverse()) undo();
  }
  return steps;
}
