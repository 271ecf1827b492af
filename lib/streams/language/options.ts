const MAX_DESCRIBED_LENGTH = 40;

/** A value in a few words for an error's message: `"12"`, `an Array`, `NaN`. */
export function described(value: unknown): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "function":
      return "a function";
    case "object":
      return value === null ? "null" : anObject(value);
    case "bigint":
      return `the bigint ${shortened(String(value))}`;
    default:
      return String(value);
  }
}

/** A text in quotes, on one line, and cut if it is long. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text));
}

function shortened(text: string): string {
  return text.length > MAX_DESCRIBED_LENGTH ? `${text.slice(0, MAX_DESCRIBED_LENGTH)}…` : text;
}

function anObject(value: object): string {
  const name: unknown = value.constructor?.name;
  if (typeof name !== "string" || name === "") return "an object";
  return `${/^[AEIOU](?!int)/.test(name) ? "an" : "a"} ${name}`;
}

/** An option: the values that it takes, and its default. */
export interface Member<T, D extends T | undefined = T | undefined> {
  /** The default; undefined if the caller computes it, or there is none. */
  readonly fallback: D;
  /** The values that it takes, in words, for messages and the tables of pages: `true or false`. */
  readonly expected: string;
  /**
   * Returns the value to use.
   *
   * @throws {TypeError | RangeError} if the value is of another type, or out of range.
   */
  readonly check: (value: unknown, name: string) => T;
}

/**
 * The schema of a public interface of options: an option without a check does not compile.
 *
 * @typeParam D The names of the options that have a default in their schema.
 */
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

/** All settings: what the caller gave, and the defaults of all other options. */
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
   * @throws {TypeError} if it is no object, or has an unknown name or a value of another type.
   * @throws {RangeError} if a number is out of range.
   */
  (given?: object, path?: string): Checked<M>;
  /** Checks only the options that are given, at their cost alone (30 ns for three): for calls made once a request. */
  check(given: object | undefined): void;
  /** The public function or class, as in `compress()`. */
  readonly owner: string;
  /** The options by name. */
  readonly members: M;
}

/**
 * Makes the schema of one public function's or class's options.
 *
 * The members are made at the first use: a module that is imported and not used computes nothing, and bundlers drop a
 * schema that is marked `@__PURE__` with the class it belongs to.
 *
 * @param owner The function or class, for messages: `compress()`, `LineStream`.
 * @param makeMembers Returns a member for each option; `SchemaOf` holds them to the public interface.
 */
export function schema<M extends AnyMembers>(owner: string, makeMembers: () => M): Schema<M> {
  let members: M | undefined = undefined;
  let names: readonly string[] = [];
  const load = (): M => {
    members = makeMembers();
    names = Object.keys(members);
    return members;
  };
  const read = (given: Readonly<Record<string, unknown>> = {}, path = ""): Record<string, unknown> => {
    const known = members ?? load();
    requireObject(given, path, owner);
    for (const name in given) if (!Object.hasOwn(known, name)) throw unknownOption(owner, name, names, path);
    const checked: Record<string, unknown> = {};
    for (const name of names) {
      const value = given[name];
      const member = known[name]!;
      checked[name] = value === undefined ? member.fallback : member.check(value, path + name);
    }
    return checked;
  };
  const check = (given: Readonly<Record<string, unknown>> | undefined): void => {
    if (given === undefined) return;
    const known = members ?? load();
    requireObject(given, "", owner);
    const prototype: unknown = Object.getPrototypeOf(given);
    if (prototype !== Object.prototype && prototype !== null) return void read(given); // accessors of a class are not enumerated
    for (const name in given) {
      if (!Object.hasOwn(known, name)) throw unknownOption(owner, name, names, "");
      if (given[name] !== undefined) known[name]!.check(given[name], name);
    }
  };
  const properties = { check: { value: check }, owner: { value: owner }, members: { get: () => members ?? load() } };
  return Object.defineProperties(read, properties) as unknown as Schema<M>;
}

function requireObject(given: unknown, path: string, owner: string): void {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return;
  throw wrongType(path === "" ? `the options of ${owner}` : path.slice(0, -1), "an object", given);
}

function unknownOption(owner: string, name: string, names: readonly string[], path: string): TypeError {
  const near = nearest(name, names);
  const wayOut = near === undefined ? `use ${names.join(", ")}` : `did you mean "${near}"?`;
  return new TypeError(`${owner}: unknown option ${quoted(path + name)}: ${wayOut}`);
}

/**
 * Returns the known name that a misspelt one probably stands for: one with a letter in three wrong, missing, added or
 * swapped with its neighbour, or with other capitals; undefined if none is close.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const distances = known.map((each) => editDistance(word.toLowerCase(), each.toLowerCase()));
  const least = Math.min(...distances);
  const closest = known[distances.indexOf(least)];
  // A wrong letter in three: of others, people would not see why.
  if (closest === undefined || least > Math.floor(Math.max(word.length, closest.length) / 3)) return undefined;
  return closest;
}

/** Counts the letters to insert, delete, replace or swap with their neighbour to make `a` into `b` (Damerau, Levenshtein). */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(replaced, last[j]! + 1, row[j - 1]! + 1, isSwapped ? beforeLast[j - 2]! + 1 : Infinity));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}

/**
 * Returns the value of an option that has no default and must be given.
 *
 * @throws {TypeError} if it is not given.
 */
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

/** The error for a value of another type than an option takes. */
export function wrongType(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${expected}, not ${described(value)}`);
}

/** An option of any type, by the test that its values pass. */
export function member<T, D extends T | undefined = undefined>(
  expected: string,
  accepts: (value: unknown) => boolean,
  fallback?: D,
): Member<T, D> {
  return {
    fallback: fallback as D,
    expected,
    check(value, name) {
      if (accepts(value)) return value as T;
      throw wrongType(name, expected, value);
    },
  };
}

/** An option that is `true` or `false`; no other value stands for either. */
export function bool<D extends boolean | undefined = undefined>(fallback?: D): Member<boolean, D> {
  return member<boolean, D>("true or false", (value) => typeof value === "boolean", fallback);
}

/** An option that is a function. */
// deno-lint-ignore no-explicit-any -- functions of all types
export function func<F extends (...args: any[]) => unknown>(): Member<F, undefined>;
// deno-lint-ignore no-explicit-any -- functions of all types
export function func<F extends (...args: any[]) => unknown>(fallback: F): Member<F, F>;
// deno-lint-ignore no-explicit-any -- functions of all types
export function func<F extends (...args: any[]) => unknown>(fallback?: F): Member<F> {
  return member<F, F | undefined>("a function", (value) => typeof value === "function", fallback);
}

/** An option that is a string; `expected` tells which, such as `a path`. */
export function text<D extends string | undefined = undefined>(
  fallback?: D,
  expected = "a string",
  accepts: (value: string) => boolean = () => true,
): Member<string, D> {
  return member<string, D>(expected, (value) => typeof value === "string" && accepts(value), fallback);
}

/** The same option, of which no error shows the value: for keys and passwords. */
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

/** An option that is one of a few values, such as strings or `false`. */
export function oneOf<T extends string | number | boolean, D extends T | undefined = undefined>(
  values: readonly T[],
  fallback?: D,
): Member<T, D> {
  return member<T, D>(alternatives(values.map(described)), (value) => values.includes(value as T), fallback);
}

/** An option that is an `AbortSignal`, of the runtime's class or of another one. */
export function signal(): Member<AbortSignal, undefined> {
  return member("an AbortSignal", (value) => {
    const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>;
    return typeof aborted === "boolean" && typeof addEventListener === "function";
  });
}

/** An option that is a number, whole or not, from `min` to `max`. */
export function number<D extends number | undefined = undefined>(
  min: number,
  max: number,
  fallback?: D,
): Member<number, D> {
  return ranged("a number", (value) => value >= min && value <= max, min, max, fallback);
}

/** An option that is a whole number from `min` to `max`; Infinity is one where there is no maximum. */
export function integer<D extends number | undefined = undefined>(
  min: number,
  max: number,
  fallback?: D,
): Member<number, D> {
  const accepts = (value: number): boolean => {
    return (Number.isInteger(value) || value === Infinity) && value >= min && value <= max;
  };
  return ranged("a whole number", accepts, min, max, fallback);
}

/** An option that is a number of bytes from 0; fractions, as of a share of the memory, are rounded down. */
export function bytes<D extends number | undefined = undefined>(fallback?: D, min = 0): Member<number, D> {
  const { expected, check } = ranged("a number of bytes", (value) => value >= min, min, Infinity, undefined);
  return { fallback: fallback as D, expected, check: (value, name) => Math.floor(check(value, name)!) };
}

function ranged<D extends number | undefined>(
  kind: string,
  accepts: (value: number) => boolean,
  min: number,
  max: number,
  fallback: D | undefined,
): Member<number, D> {
  const expected = max === Infinity ? `${kind} from ${min}` : `${kind} from ${min} to ${max}`;
  return {
    fallback: fallback as D,
    expected,
    check(value, name) {
      if (typeof value !== "number") throw wrongType(name, expected, value);
      if (accepts(value)) return value;
      throw new RangeError(`${name} ${value} is out of range: use ${expected}`);
    },
  };
}

/** An option that is a list; what is checked, and returned, is a copy. */
export function listOf<T>(item: Member<T>, expected: string): Member<readonly T[], undefined>;
/** An option that is a list, with a default. */
export function listOf<T>(
  item: Member<T>,
  expected: string,
  fallback: readonly T[],
): Member<readonly T[], readonly T[]>;
/** An option that is a list. */
export function listOf<T>(item: Member<T>, expected: string, fallback?: readonly T[]): Member<readonly T[]> {
  return {
    fallback,
    expected,
    check(value, name) {
      if (!Array.isArray(value)) throw wrongType(name, expected, value);
      return value.map((each, i) => item.check(each, `${name}[${i}]`));
    },
  };
}

/** An option that takes the values of several members. */
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
      for (const each of all) {
        try {
          return each.check(value, name);
        } catch (error) {
          // Of the right type: out of range, or with an item or an option of its own that is not what it should be.
          if (error instanceof RangeError || !(error as Error).message.startsWith(`${name} must be`)) throw error;
        }
      }
      throw wrongType(name, expected, value);
    },
  };
}

/** An option that holds options of its own. */
export function nested<M extends AnyMembers>(inner: Schema<M>): Member<Checked<M>, undefined>;
/** An option that holds options of its own, with a default. */
export function nested<M extends AnyMembers>(inner: Schema<M>, fallback: Checked<M>): Member<Checked<M>, Checked<M>>;
/** An option that holds options of its own. */
export function nested<M extends AnyMembers>(inner: Schema<M>, fallback?: Checked<M>): Member<Checked<M>> {
  return { fallback, expected: "an object", check: (value, name) => inner(value as object, `${name}.`) };
}

function alternatives(values: readonly string[]): string {
  return values.length < 2 ? values.join("") : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}

/** Refuses names of options that are not known. Replaced by {@linkcode schema} part by part. */
export function requireKnown(options: object, known: Readonly<Record<string, boolean>>, owner: string): void {
  requireObject(options, "", owner);
  const told = Object.keys(known).filter((name) => known[name]);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) throw unknownOption(owner, unknown, told, "");
}
