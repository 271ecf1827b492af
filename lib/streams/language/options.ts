import { described, hinted, quoted } from "#streams/suggestion";

/** The schema of one option: its allowed values and its default. */
export interface Member<T, D extends T | undefined = T | undefined> {
  /** The default; undefined if the caller computes it, or there is none. */
  readonly fallback: D;
  /** The allowed values in words, for messages and the tables of pages: `true or false`. */
  readonly expected: string;
  /** Returns the value to use; throws a TypeError for another type, a RangeError for one out of range. */
  readonly check: (value: unknown, name: string) => T;
}

/** The schema of a public interface, with a check for each option. `D`: the names of options with a default. */
export type SchemaOf<O, D extends keyof O = never> = Schema<
  {
    readonly [K in keyof O]-?: Member<
      Exclude<O[K], undefined>,
      Exclude<O[K], undefined> | (K extends D ? never : undefined)
    >;
  }
>;

// deno-lint-ignore no-explicit-any -- members of all types
type AnyMembers = Readonly<Record<string, Member<any>>>;

/** All settings: the given options, and the defaults of all others. */
export type Checked<M> = {
  readonly [K in keyof M]: M[K] extends Member<infer T, infer D> ? undefined extends D ? T | undefined : T : never;
};

/** The options of one public function or class. */
export interface Schema<M> {
  /**
   * Checks an options object, and reads each option once.
   *
   * @param path The name of the option that holds this object, with a dot behind it, for messages.
   * @returns all settings, with defaults.
   * @throws {TypeError} if the argument is not an object, or has an unknown option or one of the wrong type.
   * @throws {RangeError} if a number is out of range.
   */
  (given?: object, path?: string): Checked<M>;
  /** Checks options against the schema, for calls that compute defaults; returns only the given ones, each read once. */
  check<O extends object>(given: O | undefined): O;
  /** The public function or class, as in `compress()`. */
  readonly owner: string;
  /** The options by name. */
  readonly members: M;
}

/**
 * Makes the schema of one public function's or class's options.
 *
 * The members are made at the first use, so that an unused module computes nothing. Bundlers drop a schema that is
 * marked `@__PURE__` together with its unused class.
 *
 * @param owner The function or class, for messages: `compress()`, `LineStream`.
 * @param makeMembers Returns a member for each option; `SchemaOf` holds them to the public interface.
 */
export function schema<M extends AnyMembers>(owner: string, makeMembers: () => M): Schema<M> {
  let members: M | undefined = undefined;
  const load = (): M => members ??= makeMembers();
  const readAll = (given: Options = {}, path = "", hasDefaults = true): Record<string, unknown> => {
    const known = load();
    if (!hasMembers(given)) {
      throw wrongType(path.slice(0, -1) || `the options of ${owner}`, "an object", given);
    }
    for (const name in given) {
      if (Object.hasOwn(known, name) || isOfAllObjects(given, name)) continue;
      throw new TypeError(`${owner}: unknown option ${hinted(path, name, Object.keys(known))}`);
    }
    const checked: Record<string, unknown> = {};
    for (const name of Object.keys(known)) {
      const value = given[name];
      const { check, fallback } = known[name]!;
      if (value !== undefined && !isOfAllObjects(given, name)) checked[name] = check(value, path + name);
      else if (hasDefaults) checked[name] = fallback;
    }
    return checked;
  };
  const read = (given?: Options, path?: string): Record<string, unknown> => readAll(given, path);
  const check = (given?: Options): Record<string, unknown> => readAll(given, "", false);
  return Object.defineProperty(Object.assign(read, { owner, check }), "members", { get: load }) as unknown as Schema<M>;
}

type Options = Readonly<Record<string, unknown>>;

/** Whether an object inherits a member that a program has added to Object.prototype. */
function isOfAllObjects(value: object, name: string): boolean {
  return name in Object.prototype && !Object.hasOwn(value, name);
}

/** Whether a value is an object with options: of any class or a module, but not of the language's own classes. */
export function hasMembers(value: unknown): value is Options {
  return typeof value === "object" && !!value && !(Symbol.iterator in value || isThenable(value)) &&
    !OF_OWN_KIND.test(Object.prototype.toString.call(value));
}

/** Whether an object is a thenable, such as a promise. A record of headers may have a field `then`, which is not a function. */
function isThenable(value: { readonly then?: unknown }): boolean {
  return typeof value.then === "function" && !isOfAllObjects(value, "then");
}

/** The descriptions of objects that contain data of their own kind, such as a buffer or a Date, instead of members. */
const OF_OWN_KIND = /^\[object (?:(?:Shared)?ArrayBuffer|Boolean|DataView|Date|Error|Number|RegExp|Weak\w+)\]$/;

/** Returns the value of an option without a default; throws a TypeError if it is not given. */
export function requireOption<M extends AnyMembers, Name extends keyof M & string>(
  { owner, members }: Schema<M>,
  checked: Checked<M>,
  name: Name,
  path = "",
): Exclude<Checked<M>[Name], undefined> {
  const value = checked[name];
  if (value !== undefined) return value as Exclude<Checked<M>[Name], undefined>;
  throw new TypeError(`${owner} needs the option ${path}${name}: ${members[name]!.expected}`);
}

/**
 * Refuses options that have no effect on a call.
 *
 * @param given The options that are given.
 * @param reason The reason and the way out, as a predicate: `has no effect without cache: name its folder`.
 * @param defaults Values that are allowed, since they mean the same as an absent option.
 * @throws {TypeError} if one of `names` is given.
 */
export function refuseUnused<O extends object>(
  given: O,
  names: readonly (keyof O & string)[],
  reason: string,
  defaults: Partial<O> = {},
): void {
  const unused = names.find((name) => given[name] !== undefined && given[name] !== defaults[name]);
  if (unused !== undefined) throw new TypeError(`${unused} ${reason}`);
}

export function wrongType(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${expected}, not ${described(value)}`);
}

/** Returns a member for values that pass a test. `isNumber`: failing numbers are out of range, not of the wrong type. */
export function member<T, D extends T | undefined = undefined>(
  expected: string,
  accepts: (value: unknown) => boolean,
  fallback?: D,
  isNumber = false,
): Member<T, D> {
  return {
    fallback: fallback as D,
    expected,
    check(value, name) {
      if (accepts(value)) return value as T;
      if (!isNumber || typeof value !== "number") throw wrongType(name, expected, value);
      throw new RangeError(`${name} ${value} is out of range: use ${expected}`);
    },
  };
}

/** Returns a member for `true` or `false`; other values are not converted. */
export function bool<D extends boolean | undefined = undefined>(fallback?: D): Member<boolean, D> {
  return member<boolean, D>("true or false", (value) => typeof value === "boolean", fallback);
}

// deno-lint-ignore no-explicit-any -- functions of all types
export function func<F extends (...args: any[]) => unknown>(): Member<F, undefined>;
// deno-lint-ignore no-explicit-any -- functions of all types
export function func<F extends (...args: any[]) => unknown>(fallback: F): Member<F, F>;
// deno-lint-ignore no-explicit-any -- functions of all types
export function func<F extends (...args: any[]) => unknown>(fallback?: F): Member<F> {
  return member<F, F | undefined>("a function", (value) => typeof value === "function", fallback);
}

/** Returns a member for a string; `expected` describes it, such as `a path`. */
export function text<D extends string | undefined = undefined>(
  fallback?: D,
  expected = "a string",
  accepts: (value: string) => boolean = () => true,
): Member<string, D> {
  return member<string, D>(expected, (value) => typeof value === "string" && accepts(value), fallback);
}

/** Returns the member `inner` with errors that do not show the value: for keys and passwords. */
export function secret<T, D extends T | undefined>(inner: Member<T, D>): Member<T, D> {
  return {
    ...inner,
    check(value, name) {
      try {
        return inner.check(value, name);
      } catch {
        throw new TypeError(`${name} must be ${inner.expected}`);
      }
    },
  };
}

/** Returns a member for a few values, such as strings or `false`. */
export function oneOf<const T extends string | number | boolean, D extends T | undefined = undefined>(
  values: readonly T[],
  fallback?: D,
): Member<T, D> {
  return member<T, D>(alternatives(values.map(described)), (value) => values.includes(value as T), fallback);
}

/** Returns a member for a few words, or a function that decides. */
export function wordOrFunction<
  // deno-lint-ignore no-explicit-any -- functions of all types
  F extends (...args: any[]) => unknown,
  const W extends string,
  D extends W | undefined = undefined,
>(words: readonly W[], fallback?: D): Member<W | F, D> {
  return member<W | F, D>(
    alternatives([...words.map(quoted), "a function"]),
    (value) => typeof value === "function" || words.includes(value as W),
    fallback,
  );
}

/** Returns a member for an `AbortSignal`, of the runtime's class or another one. */
export function signal(): Member<AbortSignal, undefined> {
  return member("an AbortSignal", (value) => {
    return typeof (value as Partial<AbortSignal> | null)?.addEventListener === "function" &&
      "aborted" in (value as object);
  });
}

/** Returns a member for a number from `min` to `max`; `kind` is for messages: `a number of ms from`. */
export function number<D extends number | undefined = undefined>(
  min: number,
  max: number,
  fallback?: D,
  kind = "a number from",
  accepts: (value: number) => boolean = () => true,
): Member<number, D> {
  return member<number, D>(
    `${kind} ${min}${max < 2 ** 53 - 1 ? ` to ${max}` : ""}`,
    (value) => typeof value === "number" && value >= min && value <= max && accepts(value),
    fallback,
    true,
  );
}

/** Returns a member for a whole number from `min` to `max`, or Infinity if there is no maximum. */
export function integer<D extends number | undefined = undefined>(
  min: number,
  max: number,
  fallback?: D,
): Member<number, D> {
  return number(min, max, fallback, "a whole number from", (value) => value % 1 === 0 || value === Infinity);
}

/** Returns a member for a number above 0, such as a size; Infinity is allowed. */
export function positive<D extends number | undefined = undefined>(fallback?: D): Member<number, D> {
  return number(0, Infinity, fallback, "a number above", (value) => value > 0);
}

/** Returns a member for a time in ms, whole or not, within the range of the runtime's timers. */
export function milliseconds<D extends number | undefined = undefined>(fallback?: D): Member<number, D> {
  return number(0, 2 ** 31 - 1, fallback, "a number of ms from");
}

/** Returns a member for a number of bytes from 0; fractions, such as a share of the memory, are rounded down. */
export function bytes<D extends number | undefined = undefined>(fallback?: D, min = 0): Member<number, D> {
  return changed(number(min, Infinity, fallback, "a number of bytes from"), Math.floor);
}

/** Returns the member `inner` with values that `change` converts before the check. */
export function changed<T, D extends T | undefined>(inner: Member<T, D>, change: (value: T) => T): Member<T, D> {
  return { ...inner, check: (value, name) => change(inner.check(value, name)) };
}

/** Returns a member for a list, of which it makes a checked copy. */
export function listOf<T>(item: Member<T>, expected: string): Member<readonly T[], undefined>;
export function listOf<T>(
  item: Member<T>,
  expected: string,
  fallback: readonly T[],
): Member<readonly T[], readonly T[]>;
export function listOf<T>(item: Member<T>, expected: string, fallback?: readonly T[]): Member<readonly T[]> {
  return {
    fallback,
    expected,
    check(value, name) {
      if (!Array.isArray(value)) throw wrongType(name, expected, value);
      return Array.from(value, (each, i) => item.check(each, `${name}[${i}]`)); // map() would skip holes
    },
  };
}

/** Returns a member for the values of several members. */
export function anyOf<A, B, C = never, D extends A | B | C | undefined = undefined>(
  members: readonly [Member<A>, Member<B>, Member<C>?],
  fallback?: D,
): Member<A | B | C, D> {
  const all = members as readonly Member<A | B | C>[];
  const expected = alternatives(all.map((each) => each.expected));
  return {
    fallback: fallback as D,
    expected,
    check(value, name) {
      for (const { check } of all) {
        try {
          return check(value, name);
        } catch (error) {
          // This member accepts the type, but the value is out of range, or an item or a nested option is wrong.
          if (error instanceof RangeError || !(error as Error).message.startsWith(`${name} must be`)) throw error;
        }
      }
      throw wrongType(name, expected, value);
    },
  };
}

export function nested<M extends AnyMembers>(inner: Schema<M>): Member<Checked<M>, undefined>;
export function nested<M extends AnyMembers>(inner: Schema<M>, fallback: Checked<M>): Member<Checked<M>, Checked<M>>;
export function nested<M extends AnyMembers>(inner: Schema<M>, fallback?: Checked<M>): Member<Checked<M>> {
  return { fallback, expected: "an object", check: (value, name) => inner(value as object, `${name}.`) };
}

function alternatives(values: readonly string[]): string {
  return values.join(" or ").replace(/ or (?=.* or )/g, ", ");
}
