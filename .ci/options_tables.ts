/**
 * Makes the tables of options in the pages of `lib/`: names, values and defaults are those of the schemas, the sentences
 * those of the doc comments. A page has a table between `<!-- options: NameOfTheInterface -->` and `<!-- /options -->`.
 *
 *   node .ci/options_tables.ts            names the pages that are not as they would be made, and what the two disagree on
 *   node .ci/options_tables.ts --write    makes them
 *
 * The schemas are those of `tests/options/takers/`, which name the interfaces.
 */
import { execFileSync } from "node:child_process";
import { globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect, isDeepStrictEqual } from "node:util";
import type { Taker } from "../tests/options/taker.ts";
import { type Flag, nameOf } from "../lib/cli/flags.ts";
import { precompressFlags } from "../lib/cli/precompress_arguments.ts";
import { serveFlags } from "../lib/cli/serve_arguments.ts";
import { root } from "./root.ts";

/** The flags of commands, for tables that name them: `<!-- options: PrecompressOptions, with flags -->`. */
const flags: Readonly<Record<string, readonly Flag[]>> = {
  PrecompressOptions: precompressFlags.rows,
  StaticHandlerOptions: serveFlags.rows,
};

const deno = join(root, "node_modules/.bin/deno");

/** An option as its doc comment describes it. */
export interface DocumentedOption {
  /** The first sentence, without the full stop. */
  readonly sentence: string;
  /** The text of `@default`, or undefined. */
  readonly default: string | undefined;
  readonly isOptional: boolean;
}

/** The options of an interface, by their names. */
export type DocumentedOptions = ReadonlyMap<string, DocumentedOption>;

interface Property {
  readonly name: string;
  readonly optional?: boolean;
  readonly jsDoc?: {
    readonly doc?: string;
    readonly tags?: readonly { readonly kind: string; readonly value?: string }[];
  };
}

interface Declaration {
  readonly kind: string;
  readonly def?: { readonly properties?: readonly Property[]; readonly extends?: unknown; readonly tsType?: unknown };
}

interface Type {
  readonly value?: unknown;
  readonly typeName?: string;
  readonly typeParams?: readonly unknown[];
  readonly properties?: readonly Property[];
}

/** Reads the options of all public interfaces, those that they inherit first. */
export function documentedOptions(): Map<string, DocumentedOptions> {
  const { exports } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as { exports: Record<string, string> };
  const json = execFileSync(deno, ["doc", "--json", ...Object.values(exports)], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 << 20,
    stdio: ["ignore", "pipe", "ignore"], // it warns of what @types/node refers to
  });
  const { nodes } = JSON.parse(json) as {
    nodes: Record<string, { symbols: { name: string; declarations: Declaration[] }[] }>;
  };
  const declarations = new Map<string, Declaration>();
  for (const { name, declarations: own } of Object.values(nodes).flatMap(({ symbols }) => symbols)) {
    const declared = own.find(({ kind }) => kind === "interface" || kind === "typeAlias");
    if (declared !== undefined) declarations.set(name, declared);
  }
  const optionsOf = (name: string): [string, DocumentedOption][] => {
    const { properties = [], extends: inherited, tsType } = declarations.get(name)?.def ?? {};
    return [...inheritedOf([inherited, tsType]), ...properties.map(documented)];
  };
  const inheritedOf = (type: unknown): [string, DocumentedOption][] => {
    if (typeof type !== "object" || type === null) return [];
    const { typeName, typeParams = [], properties } = type as Type;
    if (properties !== undefined) return properties.map(documented);
    if (typeName !== undefined && declarations.has(typeName)) return optionsOf(typeName);
    if (typeName === "Omit") {
      const omitted = JSON.stringify(typeParams[1]);
      return inheritedOf(typeParams[0]).filter(([option]) => !omitted.includes(`"string":"${option}"`));
    }
    return Object.values(type).flatMap(inheritedOf);
  };
  return new Map([...declarations.keys()].map((name) => [name, new Map(optionsOf(name))]));
}

function documented({ name, optional = false, jsDoc = {} }: Property): [string, DocumentedOption] {
  const text = unlinked(jsDoc.doc ?? "");
  const [sentence] = /^.*?(?=\.(?:\s|$))|^.*$/.exec(text)!;
  const defaults = (jsDoc.tags ?? []).flatMap(({ kind, value = "" }) => {
    if (kind === "default") return `{${value}}`; // it takes the braces of an object for those of a type
    return value.startsWith("@default ") ? value.slice("@default ".length) : [];
  });
  return [name, { sentence, default: defaults[0] && unlinked(defaults[0]), isOptional: optional }];
}

function unlinked(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ").replaceAll(/\{@link(?:code)? ([^}|]+?)(?:\s*\|[^}]*)?\}/g, "`$1`");
}

/** Reads the takers of options whose interface is public, by the interface's name. */
export async function takersByInterface(): Promise<Map<string, Taker>> {
  const folder = join(root, "tests/options/takers");
  const found = new Map<string, Taker>();
  for (const name of readdirSync(folder).sort()) {
    const { takers } = await import(pathToFileURL(join(folder, name)).href) as { takers: readonly Taker[] };
    for (const taker of takers) {
      if (taker.options !== undefined && !found.has(taker.options)) found.set(taker.options, taker);
    }
  }
  return found;
}

/** Public interfaces of options that have no taker, with the reason. */
const WITHOUT_TAKER: Readonly<Record<string, string>> = {
  PrecompressPluginOptions: "the options of precompress(), whose schema plugins use",
  QueuingStrategyInit: "a dictionary of the Streams Standard",
  ReadableStreamBYOBReaderReadOptions: "a dictionary of the Streams Standard",
  StreamPipeOptions: "a dictionary of the Streams Standard",
};

/** Returns a fault for each public interface of options that no schema checks, and for each exception without an interface. */
export function uncheckedOptions(names: readonly string[], takers: ReadonlyMap<string, Taker>): string[] {
  const unchecked = names.filter((name) => /(?:Options|Init)$/.test(name) && !takers.has(name));
  const excepted = Object.keys(WITHOUT_TAKER);
  return [
    ...unchecked.filter((name) => !excepted.includes(name)).map((name) => `no taker has a schema for ${name}`),
    ...excepted.filter((name) => !unchecked.includes(name)).map((name) => `${name} is excepted for nothing`),
  ];
}

/** The literal that a default begins with, and the rest. */
const LITERAL = /^(true|false|Infinity|\d[\d_]*(?:\.\d+)?|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\})((?:[\s:;,(].*)?)$/;

function valueOf(literal: string): unknown {
  if (literal === "Infinity") return Infinity;
  if (literal.startsWith("{")) return JSON.parse(literal.replaceAll(/(\w+):/g, '"$1":'));
  return JSON.parse(/^\d/.test(literal) ? literal.replaceAll("_", "") : literal);
}

/** Compares a schema with the interface's doc comments, and returns the differences. */
export function faultsOf(name: string, { schema, ignoresUnknown }: Taker, options: DocumentedOptions): string[] {
  const faults: string[] = [];
  for (const option of options.keys()) {
    if (!ignoresUnknown && !Object.hasOwn(schema.members, option)) {
      faults.push(`${name}.${option} is not in the schema`);
    }
  }
  for (const [option, { fallback }] of Object.entries(schema.members)) {
    const documented = options.get(option);
    if (documented === undefined) continue; // accepted for compatibility, and not documented
    const place = `${name}.${option}`;
    if (documented.sentence === "") faults.push(`${place} has no doc comment`);
    if (ignoresUnknown || !documented.isOptional) continue; // the one has the defaults of another object, the other none
    const { default: text } = documented;
    if (text === undefined ? fallback !== undefined : !isDefault(text, fallback)) {
      faults.push(`${place}: the schema's default is ${inspect(fallback)}, and @default says ${text ?? "nothing"}`);
    }
  }
  return faults;
}

/** Whether a text of `@default` matches the value, or the absence of one. */
function isDefault(text: string, fallback: unknown): boolean {
  const [, literal, rest] = LITERAL.exec(text) ?? [];
  if (fallback === undefined) return literal === undefined || rest !== "";
  if (typeof fallback === "function") return true;
  if (typeof fallback === "string" && text.includes(JSON.stringify(fallback))) return true; // a default for several interfaces
  if (isDeepStrictEqual(fallback, []) && /^none\b/.test(text)) return true;
  return literal !== undefined && isDeepStrictEqual(valueOf(literal), fallback);
}

interface Row {
  readonly option: string;
  /** The functions and classes that take the option. */
  readonly owners: string[];
  readonly cells: readonly string[];
}

function rowsOf({ schema: { owner, members } }: Taker, options: DocumentedOptions): Row[] {
  return [...options].filter(([option]) => Object.hasOwn(members, option)).map(
    ([option, { sentence, ...documented }]) => {
      const otherwise = documented.isOptional ? shown(documented.default ?? "") : "required";
      return { option, owners: [owner], cells: [members[option].expected, otherwise, sentence] };
    },
  );
}

/** Returns a default for readers: a literal is code, except numbers, whose digits are grouped. */
function shown(text: string): string {
  const [, literal, rest] = LITERAL.exec(text) ?? [];
  if (literal === undefined) return text;
  if (/^\d/.test(literal)) return `${Number(literal.replaceAll("_", "")).toLocaleString("en-US")}${rest}`;
  return `\`${literal}\`${rest}`;
}

/** Merges the rows of an option that is the same in several interfaces. */
function merged(rows: readonly Row[]): Row[] {
  const found = new Map<string, Row>();
  for (const { option, owners, cells } of rows) {
    const key = JSON.stringify([option, cells]);
    const same = found.get(key);
    if (same === undefined) found.set(key, { option, owners: [...owners], cells });
    else same.owners.push(...owners);
  }
  return [...found.values()];
}

function tableOf(rows: readonly Row[], hasOwners: boolean, flags?: readonly Flag[]): string {
  const lines = rows.map(({ option, owners, cells: [values, otherwise, sentence] }) => {
    const own = (flags ?? []).filter((flag) => flag.option === option || flag.option?.startsWith(`${option}.`));
    const words = own.map((flag) => `\`--${nameOf(flag)}${flag.value === undefined ? "" : ` ${flag.value}`}\``);
    return [
      `\`${option}\``,
      ...(hasOwners ? [owners.map((owner) => `\`${owner}\``).join(", ")] : []),
      ...(flags ? [words.join(", ")] : []),
      escaped(coded(values)),
      escaped(otherwise),
      escaped(sentence),
    ];
  });
  const head = [
    "option",
    ...(hasOwners ? ["of"] : []),
    ...(flags ? ["command"] : []),
    "values",
    "default",
    "what it says",
  ];
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/**
 * Returns the values of an option with those that are literals, and names of classes, as code, and with grouped
 * numbers.
 */
function coded(values: string): string {
  return values
    .replaceAll(/"(?:[^"\\]|\\.)*"|\b(?:true|false|AbortSignal|Uint8Array|ArrayBuffer)\b/g, "`$&`")
    .replaceAll(/\b\d{4,}\b/g, (digits) => Number(digits).toLocaleString("en-US"));
}

function escaped(text: string): string {
  return text.replaceAll("|", "\\|");
}

/** Returns a page with updated tables. A table omits the rows that an earlier table of the page has. */
export function withTables(
  page: string,
  takers: ReadonlyMap<string, Taker>,
  interfaces: ReadonlyMap<string, DocumentedOptions>,
): string {
  const above = new Set<string>();
  const text = page.replaceAll(/(<!-- options: ([^>]*?) -->\n)[^]*?(<!-- \/options -->)/g, (_, begin, list, end) => {
    const names = (list as string).split(", ").filter((name) => name !== "with flags");
    const rows = merged(names.flatMap((name) => {
      const taker = takers.get(name);
      if (taker === undefined) throw new Error(`no taker of tests/options/takers/ has the options ${name}`);
      return rowsOf(taker, interfaces.get(name) ?? new Map());
    })).filter(({ option, cells }) => !above.has(JSON.stringify([option, cells])));
    for (const { option, cells } of rows) above.add(JSON.stringify([option, cells]));
    return `${begin}\n${
      tableOf(rows, names.length > 1, list.endsWith("with flags") ? flags[names[0]!] : undefined)
    }\n\n${end}`;
  });
  if (text === page) return page;
  return execFileSync(deno, ["fmt", "--quiet", "--ext=md", "-"], { cwd: root, input: text, encoding: "utf8" });
}

/** Returns the pages that describe options, by path, with their current and generated text, and all faults. */
export async function optionsTables(): Promise<{ pages: Map<string, [string, string]>; faults: string[] }> {
  const takers = await takersByInterface();
  const interfaces = documentedOptions();
  const faults = [...takers].flatMap(([name, taker]) => {
    const options = interfaces.get(name);
    return options === undefined ? [`${name} is no public interface`] : faultsOf(name, taker, options);
  });
  faults.push(...uncheckedOptions([...interfaces.keys()], takers));
  const pages = new Map<string, [string, string]>();
  for (const path of globSync("lib/*/README.md", { cwd: root }).sort()) {
    const page = readFileSync(join(root, path), "utf8");
    pages.set(path, [page, withTables(page, takers, interfaces)]);
  }
  const all = [...pages.values()].map(([page]) => page).join("\n");
  for (const name of takers.keys()) {
    if (!new RegExp(`<!-- options: [^>]*\\b${name}\\b`).test(all)) faults.push(`no page has a table of ${name}`);
  }
  return { pages, faults };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { pages, faults } = await optionsTables();
  const others = [...pages].filter(([, [page, made]]) => page !== made);
  if (process.argv.includes("--write")) {
    for (const [path, [, made]] of others) writeFileSync(join(root, path), made);
  } else faults.push(...others.map(([path]) => `${path} has other tables: node .ci/options_tables.ts --write`));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
