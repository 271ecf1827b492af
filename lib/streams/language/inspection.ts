import { wrongThis } from "./errors.ts";
import { isObject } from "./webidl.ts";

interface InspectOptions {
  readonly depth: number | null;
}
type Inspect = (value: object, options: InspectOptions) => string;

/**
 * Lets Node's `util.inspect()`, which the other runtimes have as well, show these members of a class, which are getters.
 *
 * @see {@link https://nodejs.org/api/util.html#utilinspectcustom}
 */
export function showInNode(
  { prototype, name }: { prototype: object; name: string },
  ...members: readonly string[]
): void {
  Object.defineProperty(prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value(this: object, depth: number, options: InspectOptions, inspect: Inspect): unknown {
      if (!isObject(this)) throw wrongThis(name);
      if (depth < 0 || this === prototype) return this;
      const shown = Object.fromEntries(members.map((each) => [each, Reflect.get(this, each)]));
      return `${name} ${inspect(shown, { ...options, depth: options.depth === null ? null : options.depth - 1 })}`;
    },
    configurable: true,
  });
}
