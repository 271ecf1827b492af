import { wrongThis } from "./errors.ts";
import { isObject } from "./webidl.ts";

interface InspectOptions {
  readonly depth: number | null;
}
type Inspect = (value: object, options: InspectOptions) => string;

/** A class whose objects `util.inspect()` shows with members. */
interface Shown {
  readonly prototype: object;
  readonly name: string;
}

/** Has Node's `util.inspect()`, which the other runtimes have as well, show the named getters of a class. */
export function showInNode(shown: Shown, ...members: readonly string[]): void {
  showAsInNode(shown, (object) => Object.fromEntries(members.map((each) => [each, Reflect.get(object, each)])));
}

/** Has {@link https://nodejs.org/api/util.html#utilinspectcustom util.inspect()} show members of a class. */
export function showAsInNode({ prototype, name }: Shown, membersOf: (object: object) => object): void {
  Object.defineProperty(prototype, Symbol.for("nodejs.util.inspect.custom"), {
    value(this: object, depth: number, options: InspectOptions, inspect: Inspect): unknown {
      if (!isObject(this)) throw wrongThis(name);
      if (depth < 0 || this === prototype) return this;
      return `${name} ${
        inspect(membersOf(this), { ...options, depth: options.depth === null ? null : options.depth - 1 })
      }`;
    },
    configurable: true,
  });
}
