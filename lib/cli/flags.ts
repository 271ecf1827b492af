import { parseArgs, type ParseArgsConfig } from "node:util";
import type { Member, Schema } from "../streams/internal.ts";
import { byteCount, duration, percent, seconds, suggestionFor, UsageError, wholeNumber } from "./usage.ts";

/** A flag of a command: a row of the table from which its parser and its help are made. */
export interface Flag {
  /** The option that it sets, such as `levels.brotli`; undefined for a flag of the command itself. */
  readonly option?: string;
  /** The name, without dashes. Default: that of the option, in kebab case. */
  readonly name?: string;
  /** The short name, a letter. */
  readonly short?: string;
  /**
   * The word for its value: BYTES, LIST, N, PERCENT, SECONDS and TIME determine its parsing, other words mean text.
   * Default: none, for a switch, which disables an option if its name begins with `no-`.
   */
  readonly value?: string;
  /** The sentence of the help, without the default; undefined hides the flag. `{range}` is replaced by the option's range. */
  readonly help?: string;
  /** The default in words, if the schema has none to show. */
  readonly otherwise?: string;
  /** Whether the flag can be given several times; always so for an option that takes a list. */
  readonly repeats?: boolean;
  /** Whether an empty value is meaningful. */
  readonly mayBeEmpty?: boolean;
}

type Members = Readonly<Record<string, Member<unknown>>>;
type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** The parsers of values, by the word for the value. */
const readers: Readonly<Record<string, (flag: string, text: string) => unknown>> = {
  BYTES: byteCount,
  LIST: (_flag, text) => text.split(",").map((item) => item.trim()),
  N: wholeNumber,
  PERCENT: percent,
  SECONDS: seconds,
  TIME: duration,
};

/** The formatters of defaults, by the word for the value. */
const writers: Readonly<Record<string, (value: number) => string>> = {
  BYTES: (value) =>
    ["", "k", "M", "G"].map((unit, i) => `${value / 2 ** (10 * i)}${unit}`).findLast((text) => /^\d+\D?$/.test(text))!,
  PERCENT: (value) => String(value * 100),
  SECONDS: (value) => String(value / 1000),
};

/** The column at which the sentences of a help begin. */
const COLUMN = 25;

const common: readonly Flag[] = [{ name: "help", short: "h" }, { name: "version", short: "v" }];

/** Returns the members of a schema by the paths of their options, including nested options. */
export function optionsByPath(schema: Schema<Members>, inner: Readonly<Record<string, Schema<Members>>> = {}): Members {
  return Object.fromEntries(
    Object.entries(schema.members).flatMap(([name, member]) => {
      const below = Object.entries(inner[name]?.members ?? {});
      return below.length > 0 ? below.map(([each, own]) => [`${name}.${each}`, own]) : [[name, member]];
    }),
  );
}

export class Flags {
  readonly rows: readonly Flag[];
  readonly #members: () => Members;

  /** @param members Returns the options by their paths; called when the command is used. */
  constructor(members: () => Members, rows: readonly Flag[]) {
    this.#members = members;
    this.rows = [...rows, ...common];
  }

  help(): string {
    const members = this.#members();
    const lines = this.rows.filter(({ help }) => help !== undefined).map((row) => {
      const member = members[row.option ?? ""];
      const range = member?.expected.match(/\d+ to \d+/)?.[0] ?? "";
      const text = `${row.help!.replace("{range}", range)}${defaultOf(row, member)}`.replaceAll(
        "\n",
        `\n${" ".repeat(COLUMN)}`,
      );
      const short = row.short === undefined ? "" : `-${row.short}, `;
      const words = `  ${short}--${nameOf(row)}${row.value === undefined ? "" : ` ${row.value}`}`;
      return `${words.padEnd(COLUMN - 1)} ${text}\n`;
    });
    return `${lines.join("")}  -h, --help; -v, --version\n`;
  }

  parse(words: readonly string[]): GivenFlags {
    const members = this.#members();
    const options = Object.fromEntries(this.rows.map((row) => [nameOf(row), typeOf(row, members[row.option ?? ""])]));
    const mayBeEmpty = new Set(this.rows.filter((row) => row.mayBeEmpty).map(nameOf));
    requireSound(words, options, mayBeEmpty);
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    return new GivenFlags(this.rows, values, positionals);
  }
}

type ParsedAs = NonNullable<ParseArgsConfig["options"]>;

function typeOf({ value, short, repeats }: Flag, member: Member<unknown> | undefined): ParsedAs[string] {
  const multiple = repeats ?? (value !== undefined && member !== undefined && takes(member, []));
  return { type: value === undefined ? "boolean" : "string", multiple, ...(short !== undefined && { short }) };
}

export function takes({ check }: Member<unknown>, value: unknown): boolean {
  try {
    check(value, "it");
    return true;
  } catch {
    return false;
  }
}

function defaultOf({ value, otherwise }: Flag, member: Member<unknown> | undefined): string {
  if (otherwise !== undefined) return ` (default: ${otherwise})`;
  const fallback = member?.fallback;
  if (typeof fallback !== "string" && typeof fallback !== "number") return "";
  return ` (default ${typeof fallback === "number" ? (writers[value ?? ""] ?? String)(fallback) : fallback})`;
}

/** Returns the name of a flag, without dashes. */
export function nameOf({ name, option = "" }: Flag): string {
  return name ?? option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Reports errors in the package's own words, the same on each runtime. */
function requireSound(words: readonly string[], options: ParsedAs, mayBeEmpty: ReadonlySet<string>): void {
  const { tokens } = parseArgs({ args: [...words], options, allowPositionals: true, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const { name, rawName, value, inlineValue: isInline } = token;
    if (!Object.hasOwn(options, name)) {
      throw new UsageError(`unknown option ${rawName}${suggestionFor(name, Object.keys(options), "--")}`);
    }
    if (options[name]!.type === "boolean") {
      if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    } else if (value === undefined) throw new UsageError(`${rawName} needs a value`);
    else if (value === "" && !mayBeEmpty.has(name)) throw new UsageError(`${rawName} has an empty value`);
    else if (!isInline && /^-./.test(value)) {
      throw new UsageError(
        `${rawName} needs a value: ${value} looks like an option, write --${name}=${value} if it is one`,
      );
    }
  }
}

/** A command line, split into flags and other words. */
export class GivenFlags {
  /** The words that are neither flags nor their values. */
  readonly words: readonly string[];
  readonly #rows: readonly Flag[];
  readonly #values: Values;

  constructor(rows: readonly Flag[], values: Values, words: readonly string[]) {
    this.#rows = rows;
    this.#values = values;
    this.words = words;
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined;
  }

  /** Returns the value of a flag that can be given once. */
  text(name: string): string | undefined {
    return this.texts(name)[0];
  }

  texts(name: string): readonly string[] {
    return [this.#values[name] ?? []].flat().map(String);
  }

  options(): Record<string, unknown> {
    const options: Record<string, unknown> = {};
    for (const row of this.#rows) {
      const given = this.#values[nameOf(row)];
      if (row.option === undefined || given === undefined) continue;
      const [name, inner] = row.option.split(".");
      const value = valueOf(row, given);
      options[name!] = inner === undefined ? value : { ...options[name!] as object, [inner]: value };
    }
    return options;
  }

  /** Returns an error about an option in terms of the command line. */
  explained(cause: unknown): UsageError {
    const { message } = cause as Error;
    const named = this.#rows.find((row) => {
      if (row.option === undefined || !this.has(nameOf(row)) || !message.startsWith(row.option)) return false;
      return /^(?:\[\d+\])? /.test(message.slice(row.option.length));
    });
    const told = named && `--${nameOf(named)}${message.slice(named.option!.length).replace(/^\[\d+\]/, "")}`;
    return new UsageError(told ?? message, { cause });
  }
}

function valueOf(row: Flag, given: NonNullable<Values[string]>): unknown {
  if (row.value === undefined) return !nameOf(row).startsWith("no-");
  const read = readers[row.value];
  // A list that is given several times is joined, since the parser splits it at commas.
  return read === undefined ? given : read(nameOf(row), String(given));
}
