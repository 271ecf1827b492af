import { readFile, stat } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import { ignoreMissing, isLockName, lastingPath, whileUnshared } from "../files/internal.ts";
import { isTemporaryName } from "../files/mod.ts";
import { refuseOptions } from "../streams/internal.ts";
import { type DeltaFormat, extensions, type VariantFormat } from "./formats.ts";
import type { DictionaryRecord, FileRecord, Manifest, VariantRecord } from "./records.ts";

/**
 * The manifest's name, in the folder with the variants.
 *
 * @example Leave it out of what is uploaded
 * ```ts
 * import { manifestName } from "@millrace/streams/precompress";
 * import { readdir } from "node:fs/promises";
 *
 * console.log((await readdir("dist")).filter((name) => name !== manifestName).length > 0); // true
 * ```
 */
export const manifestName = ".millrace.json";

/** The journal's name: a file beside the manifest that a run writes while it is in progress. */
export const journalName = ".millrace.journal";

/** Whether `name` is that of a lock or of a file that runs use internally, which is no part of a site. */
export function isOwnName(name: string): boolean {
  return name === manifestName || name === journalName || isTemporaryName(name) || isLockName(name);
}

/** The first line of a manifest by this writer, and the last one. */
const HEAD = /^\{"version": 1, "copied": (?:true|false), "files": \{$/;
const FOOT = "}}";
/** The text before the record of a file in its line: its path and a colon. */
const KEY = /^"(?:[^"\\]|\\.)*":/;

/** Parses the text of a manifest. Invalid records are dropped. */
export function parseManifest(text: string, path: string): Manifest {
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(text);
  } catch (cause) {
    throw new TypeError(`${path} is not a manifest: delete it and run again`, { cause });
  }
  const { version, copied, files } = manifest ?? {};
  if (version !== 1 || typeof files !== "object" || files === null || !Object.entries(files).every(isKey)) {
    throw new TypeError(`${path} is not a manifest that this version reads: delete it and run again`);
  }
  // Without a prototype, since files may be called "constructor" or "__proto__".
  const checked: Record<string, FileRecord> = Object.create(null);
  for (const [file, value] of Object.entries(files)) {
    const record = checkedRecord(value);
    if (record) checked[file] = record;
  }
  return { version, copied: copied === true, files: checked };
}

/** Returns the text of a manifest, which depends only on its files. */
export function manifestText(copied: boolean, files: ReadonlyMap<string, FileRecord>): string {
  const paths = [...files.keys()].sort();
  // One line for each file makes diffs readable.
  const lines = paths.map((path) => `${JSON.stringify(path)}: ${JSON.stringify(files.get(path))}`);
  return `{"version": 1, "copied": ${copied}, "files": {${lines.length ? `\n${lines.join(",\n")}\n` : ""}}}\n`;
}

/** A reader of a manifest's lines in the form of {@linkcode manifestText}: parsed whole, 10,000 files would take 20 MB. */
export class ManifestLines {
  readonly #add: (path: string, record: unknown) => void;
  #begun = "";
  #expected: "head" | "record" | "foot" | "nothing" = "head";

  /** @param add Called with the record of each file and its path. */
  constructor(add: (path: string, record: unknown) => void) {
    this.#add = add;
  }

  get isComplete(): boolean {
    return this.#expected === "nothing" && this.#begun === "";
  }

  /** Continues reading; returns false if a line that ends in `text` has another form than the writer's. */
  take(text: string): boolean {
    const lines = (this.#begun + text).split("\n");
    this.#begun = lines.pop()!;
    return lines.every((line) => this.#takeLine(line));
  }

  #takeLine(line: string): boolean {
    if (this.#expected === "record") {
      const hasNext = line.endsWith(",");
      const [key] = KEY.exec(line) ?? [];
      if (key === undefined) return false;
      // Parsing an object with that key would make V8 keep a hidden class for each key.
      this.#add(JSON.parse(key.slice(0, -1)), JSON.parse(line.slice(key.length, hasNext ? -1 : undefined)));
      if (!hasNext) this.#expected = "foot";
      return true;
    }
    const isExpected = this.#expected === "head" ? HEAD.test(line) : this.#expected === "foot" && line === FOOT;
    this.#expected = this.#expected === "head" ? "record" : "nothing";
    return isExpected;
  }
}

const states: ReadonlySet<unknown> = new Set(["kept", "found", "unworthy"]);

/** Returns the checked record of a file; undefined if it is invalid. It determines which files are removed. */
export function checkedRecord(value: unknown): FileRecord | undefined {
  const record = (value ?? {}) as Partial<Record<keyof FileRecord, unknown>>;
  const { size, sha256, dictionary, olderDictionaries, siteDictionary, madeOf, immutable, place, found } = record;
  if (!isSize(size) || !isHash(sha256)) return undefined;
  const checked = checkedDictionary(dictionary);
  const older = Array.isArray(olderDictionaries) ? olderDictionaries.map(checkedDictionary) : [];
  return {
    size,
    sha256,
    ...(checked && { dictionary: checked }),
    ...(older.length > 0 && older.every((each) => each !== undefined) && { olderDictionaries: older }),
    ...(isHash(siteDictionary) && { siteDictionary }),
    ...(isHash(madeOf) && { madeOf }),
    ...(typeof immutable === "boolean" && { immutable }),
    ...(isPath(place) && { place }),
    ...(found === true && { found }),
    ...(record.unread === true && { unread: true }),
    variants: checkedVariants(record.variants),
  };
}

/** Returns the checked record of a variant; undefined if it is invalid, or an earlier version omitted a field. */
export function checkedVariant(value: unknown): VariantRecord | undefined {
  const { state, settings, size, sha256 } = (value ?? {}) as Partial<Record<keyof VariantRecord, unknown>>;
  if (!states.has(state) || typeof settings !== "string") return undefined;
  if (!isSize(size) || !isHash(sha256)) return state === "unworthy" ? { state, settings } : undefined;
  return { state: state as VariantRecord["state"], settings, size, sha256 };
}

function checkedVariants(value: unknown): FileRecord["variants"] {
  const variants: Partial<Record<VariantFormat | DeltaFormat, VariantRecord>> = {};
  if (typeof value !== "object" || value === null) return variants;
  for (const [format, each] of Object.entries(value)) {
    const variant = isFormat(format) ? checkedVariant(each) : undefined;
    if (variant) variants[format as VariantFormat | DeltaFormat] = variant;
  }
  return variants;
}

export function isFormat(name: unknown): name is VariantFormat | DeltaFormat {
  return typeof name === "string" && Object.hasOwn(extensions, name);
}

function checkedDictionary(value: unknown): DictionaryRecord | undefined {
  const { path, sha256, match } = (value ?? {}) as Partial<Record<keyof DictionaryRecord, unknown>>;
  return typeof path === "string" && isHash(sha256) && typeof match === "string" ? { path, sha256, match } : undefined;
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** Whether a recorded path stays in the folder, or is the place of a link: files are removed by these paths. */
export function isKey([path, record]: [string, unknown]): boolean {
  const parts = path.split(sep === "/" ? "/" : /[/\\]/);
  return isPath(path) && (!parts.includes("..") || (record as FileRecord | null)?.place === path);
}

function isPath(path: unknown): path is string {
  return typeof path === "string" && path !== "" && !isAbsolute(path) && !path.includes("\0");
}

/**
 * Reads the manifest in `folder`, if there is one.
 *
 * @param folder The folder with the variants.
 * @returns The manifest, or undefined.
 * @throws {TypeError} if it is malformed.
 * @example See whether a folder was precompressed
 * ```ts
 * import { precompress, readManifest } from "@millrace/streams/precompress";
 *
 * console.log(await readManifest("dist")); // undefined
 * await precompress("dist", { formats: ["gzip"] });
 * console.log("index.html" in (await readManifest("dist"))!.files); // true
 * ```
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  refuseOptions("readManifest()", arguments[1]);
  return await manifestAt(join(lastingPath(folder), manifestName));
}

/** Returns the manifest at `path`, or undefined. Throws a TypeError if it is malformed. */
export async function manifestAt(path: string): Promise<Manifest | undefined> {
  const text = await readManifestText(path);
  return text === undefined ? undefined : parseManifest(text, path);
}

/** Returns the text of the manifest at `path`, or undefined. */
export async function readManifestText(path: string): Promise<string | undefined> {
  const status = await stat(path).catch(ignoreMissing);
  if (status?.isFile() === false) throw new TypeError(`${path} is not a manifest: remove it and run again`);
  return status && await whileUnshared(() => readFile(path, "utf8")).catch(ignoreMissing);
}
