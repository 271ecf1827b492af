import { type Format, levels } from "../codecs/mod.ts";
import { storedCodings } from "../semantics/mod.ts";
import { described, requireKnown } from "../streams/internal.ts";
import { type CacheLimits, isBucketAddress, requireCachePlace } from "./cache/cache_store.ts";

/** The formats whose level can be set. */
const levelFormats = { brotli: true, zstd: true, gzip: true };

/**
 * Sees that lists are lists and paths are text, which programs without types may get wrong: a text in place of a list of
 * globs would be taken letter by letter, and `*` matches every file.
 *
 * @throws {TypeError} if an option is of another type, or a level of an unknown format.
 */
export function requireTypes(options: Readonly<Record<string, unknown>>): void {
  const { formats } = options;
  if (formats !== undefined && !Array.isArray(formats)) {
    throw new TypeError(`formats is no list but ${described(formats)}: use one such as ["brotli", "gzip"]`);
  }
  if (options.levels !== undefined) requireKnown(options.levels as object, levelFormats, "levels");
  for (const name of ["include", "exclude"]) {
    const globs = options[name];
    if (globs === undefined || Array.isArray(globs) && globs.every((glob) => typeof glob === "string")) continue;
    throw new TypeError(`${name} is no list of globs but ${described(globs)}: use one such as ["**/*.js"]`);
  }
  for (const name of ["out", "previous", "cache"]) {
    const path = options[name];
    if (path === undefined || typeof path === "string") continue;
    throw new TypeError(`${name} is no path but ${described(path)}: name a folder`);
  }
}

/**
 * A format that precompress writes beside a file.
 *
 * @example Leave zstd to those who serve it
 * ```ts
 * import { precompress, type VariantFormat } from "@millrace/streams/precompress";
 *
 * const formats: VariantFormat[] = ["brotli", "gzip"];
 * const { types } = await precompress("dist", { formats });
 * console.log(Object.keys(types[0].variants).join(" ")); // brotli gzip
 * ```
 */
export type VariantFormat = "brotli" | "zstd" | "gzip";

/**
 * Every {@linkcode VariantFormat}, in the order in which reports list them.
 *
 * @example All but one
 * ```ts
 * import { precompress, variantFormats } from "@millrace/streams/precompress";
 *
 * const formats = variantFormats.filter((format) => format !== "gzip");
 * await precompress("dist", { formats });
 * console.log(formats.join(" ")); // brotli zstd
 * ```
 */
export const variantFormats: readonly VariantFormat[] = ["brotli", "zstd", "gzip"];

/**
 * The deltas (RFC 9842): `dcb` and `dcz`, which `previous` adds, are against a former version of the same file;
 * `site-dcb` and `site-dcz`, which `siteDictionary` adds, are against the dictionary of the site.
 *
 * @example How large the deltas are
 * ```ts
 * import { type DeltaFormat, precompress, readManifest } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { previous: "dist-deployed", include: ["assets/*.js"] });
 * const { variants } = (await readManifest("dist"))!.files["assets/app-B1946AC9.js"];
 * const smallerThanBrotli = (format: DeltaFormat): boolean => variants[format]!.size! < variants.brotli!.size!;
 * console.log(smallerThanBrotli("dcb"), smallerThanBrotli("dcz")); // true true
 * ```
 */
export type DeltaFormat = "dcb" | "dcz" | SiteDeltaFormat;

/**
 * A delta against the dictionary of the site.
 *
 * @example How small a page is with the dictionary of the site
 * ```ts
 * import { precompress, readManifest, type SiteDeltaFormat } from "@millrace/streams/precompress";
 * import { writeFile } from "node:fs/promises";
 *
 * const nav = Array.from({ length: 60 }, (_, i) => `<li><a href="/${i * 7919}">${i * 104729}</a>`).join("");
 * for (let i = 0; i < 12; i++) await writeFile(`dist/${i}.html`, `<!doctype html><title>${i}</title><ul>${nav}</ul>`);
 * await precompress("dist", { siteDictionary: true });
 * const format: SiteDeltaFormat = "site-dcb";
 * const { variants } = (await readManifest("dist"))!.files["7.html"];
 * console.log(variants[format]!.size! < variants.brotli!.size! / 2); // true
 * ```
 */
export type SiteDeltaFormat = "site-dcb" | "site-dcz";

/**
 * The extension of each format's files, as nginx, Caddy and others expect it.
 *
 * @example Find a file's variants
 * ```ts
 * import { extensions, variantFormats } from "@millrace/streams/precompress";
 *
 * console.log(variantFormats.map((format) => `app.js${extensions[format]}`).join(" ")); // app.js.br app.js.zst app.js.gz
 * ```
 */
export const extensions: Readonly<Record<VariantFormat | DeltaFormat, string>> = {
  brotli: storedCodings.br.extension,
  zstd: storedCodings.zstd.extension,
  gzip: storedCodings.gzip.extension,
  dcb: storedCodings.dcb.extension,
  dcz: storedCodings.dcz.extension,
  "site-dcb": `.site${storedCodings.dcb.extension}`,
  "site-dcz": `.site${storedCodings.dcz.extension}`,
};

/** The deltas that belong to a format. */
export const deltasOf: Readonly<Record<VariantFormat, readonly DeltaFormat[]>> = {
  brotli: ["dcb", "site-dcb"],
  zstd: ["dcz", "site-dcz"],
  gzip: [],
};

/** Whether a format is that of a delta. */
export function isDelta(format: VariantFormat | DeltaFormat): format is DeltaFormat {
  return format.endsWith("dcb") || format.endsWith("dcz");
}

/** Whether a format is that of a delta against the dictionary of the site. */
export function isSiteDelta(format: VariantFormat | DeltaFormat): format is SiteDeltaFormat {
  return format.startsWith("site-");
}

/** The codec's name of a format. */
export function codecOf(format: VariantFormat | DeltaFormat): VariantFormat | "dcb" | "dcz" {
  return isSiteDelta(format) ? format === "site-dcb" ? "dcb" : "dcz" : format;
}

/**
 * How far a run has come.
 *
 * @example Show it
 * ```ts
 * import { precompress, type PrecompressProgress } from "@millrace/streams/precompress";
 *
 * let last = 0;
 * const onProgress = ({ fraction }: PrecompressProgress) => last = fraction;
 * await precompress("dist", { onProgress });
 * console.log(`${last * 100}%`); // 100%
 * ```
 */
export interface PrecompressProgress {
  /** Bytes of input compressed so far, each counted once a format. */
  bytesDone: number;
  /** Bytes of input to compress in all, as far as the files are known. */
  bytesTotal: number;
  /** The share of the work that is done, from 0 to 1: brotli's bytes take longer than gzip's. */
  fraction: number;
  /** The estimated time to go, in ms; undefined until there is something to estimate from. */
  remainingMs: number | undefined;
}

/**
 * Options of {@linkcode precompress}.
 *
 * @example A quick run of the pages only, into a copy
 * ```ts
 * import { precompress, type PrecompressOptions } from "@millrace/streams/precompress";
 *
 * const options: PrecompressOptions = {
 *   out: "upload",
 *   include: ["*.html"],
 *   levels: { brotli: 5, zstd: 3, gzip: 6 },
 *   signal: AbortSignal.timeout(60_000),
 * };
 * const { compressed, copied } = await precompress("dist", options);
 * console.log(compressed.join(" "), copied.includes("assets/app-B1946AC9.js")); // index.html true
 * ```
 */
export interface PrecompressOptions {
  /**
   * The folder to write a copy of the tree to, with the variants. Files that are gone from the tree go from there too,
   * if a former run put them there.
   *
   * @default none: the variants are written beside the files
   */
  out?: string;
  /**
   * The formats to write.
   *
   * @default all: brotli, zstd and gzip
   */
  formats?: readonly VariantFormat[];
  /**
   * The level of each format.
   *
   * @default brotli 11, zstd 19, gzip 12
   */
  levels?: Partial<Record<VariantFormat, number>>;
  /**
   * Files smaller than this many bytes are left alone.
   *
   * @default 1024
   */
  minSize?: number;
  /**
   * The share of a file that a variant must save to be kept, from 0 to 1.
   *
   * @default 0.05
   */
  minSaving?: number;
  /** Globs on paths below the folder; only files that match one are compressed. Default: all files. */
  include?: readonly string[];
  /** Globs on paths below the folder; files that match one are not compressed. Default: none. */
  exclude?: readonly string[];
  /**
   * Whether names that begin with a dot are taken, too; `.well-known` always is.
   *
   * @default false
   */
  dotfiles?: boolean;
  /**
   * Whether symbolic links that lead out of the folder are followed: variants of the files there are written beside
   * them, or into the copy. If not, such links are problems.
   *
   * @default false
   */
  followLinks?: boolean;
  /** A folder with the previous deploy: each file's previous version becomes the dictionary of a delta. Default: none. */
  previous?: string;
  /**
   * Whether the HTML pages get deltas against one dictionary, which is made of what they share and written to the
   * folder: a client that has read one page gets all others much smaller. There is none if it would not save more than
   * it costs. A dictionary of an earlier run, or in `previous`, is kept while it does about as well as a new one.
   *
   * @default false
   */
  siteDictionary?: boolean;
  /**
   * The folder of a cache, or `s3://BUCKET/PREFIX`: variants that a run anywhere has put there are taken from it, once
   * they are verified, instead of being compressed again. A folder is made unless it is there, and must lie apart from
   * those of the run. For a bucket, the environment names the store: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
   * `AWS_REGION`, `AWS_ENDPOINT_URL`.
   *
   * @default none
   */
  cache?: string;
  /**
   * How large the cache may be, in bytes: a run ends by removing the entries that were not used for longest.
   *
   * @default none: it may grow
   */
  cacheMaxSize?: number;
  /**
   * How long an entry is kept in the cache after its last use, in ms.
   *
   * @default none: for good
   */
  cacheMaxAge?: number;
  /**
   * The files whose content never changes under their name, as the build put a hash into it: globs on paths below the
   * folder, or a function of the path. Written to the manifest, so that the static handler goes by that rather than by
   * names: files of which it says nothing are revalidated then. Without the option, and where the function returns
   * undefined, what the manifest says of a file stays as long as its content does.
   *
   * @default nothing new is said of files
   */
  immutable?: readonly string[] | ((path: string) => boolean | undefined);
  /** How many worker threads compress. Default: as many as there are processors. */
  jobs?: number;
  /**
   * Whether to compress anew files that did not change, and to write over files that are in the way. Default: false.
   */
  force?: boolean;
  /** Whether to write nothing and only find out what a run would do. Default: false. */
  dryRun?: boolean;
  /** Stops the run, leaving no temporary file. */
  signal?: AbortSignal;
  /** Called as the run goes on, at most 20 times a second. */
  onProgress?: (progress: PrecompressProgress) => void;
}

const known: Readonly<Record<keyof PrecompressOptions, true>> = {
  out: true,
  formats: true,
  levels: true,
  minSize: true,
  minSaving: true,
  include: true,
  exclude: true,
  dotfiles: true,
  followLinks: true,
  previous: true,
  siteDictionary: true,
  cache: true,
  cacheMaxSize: true,
  cacheMaxAge: true,
  immutable: true,
  jobs: true,
  force: true,
  dryRun: true,
  signal: true,
  onProgress: true,
};

/** {@linkcode PrecompressOptions} with its defaults, checked. */
export interface Settings {
  readonly formats: readonly VariantFormat[];
  readonly levels: Readonly<Record<VariantFormat, number>>;
  readonly minSize: number;
  readonly minSaving: number;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly dotfiles: boolean;
  readonly followLinks: boolean;
  readonly siteDictionary: boolean;
  readonly cacheLimits: CacheLimits;
  readonly jobs: number;
  readonly force: boolean;
  readonly dryRun: boolean;
}

/** @throws {TypeError | RangeError} if an option is not what it should be. */
export function settingsOf(options: PrecompressOptions, defaultJobs: number): Settings {
  requireKnown(options, known, "precompress()");
  requireTypes({ ...options });
  const formats = options.formats ?? variantFormats;
  if (formats.length === 0) throw new TypeError(`formats is empty: name one of ${variantFormats.join(", ")}`);
  for (const format of formats) {
    if (!variantFormats.includes(format)) {
      throw new TypeError(`unknown format "${format}": use ${variantFormats.join(", ")}`);
    }
  }
  const settings: Settings = {
    formats: variantFormats.filter((format) => formats.includes(format)),
    levels: { brotli: levelOf("brotli"), zstd: levelOf("zstd"), gzip: levelOf("gzip") },
    minSize: options.minSize ?? 1024,
    minSaving: options.minSaving ?? 0.05,
    include: options.include ?? [],
    exclude: options.exclude ?? [],
    dotfiles: options.dotfiles ?? false,
    followLinks: options.followLinks ?? false,
    siteDictionary: options.siteDictionary ?? false,
    cacheLimits: { maxSize: options.cacheMaxSize, maxAge: options.cacheMaxAge },
    jobs: options.jobs ?? defaultJobs,
    force: options.force ?? false,
    dryRun: options.dryRun ?? false,
  };
  if (settings.siteDictionary && !settings.formats.some((format) => deltasOf[format].length > 0)) {
    throw new TypeError("siteDictionary is of no use without brotli or zstd: name one of them among formats");
  }
  for (const name of ["out", "previous", "cache"] as const) {
    if (options[name] === "") throw new TypeError(`${name} is empty: name a folder, "." if it is the current one`);
  }
  if (options.cache !== undefined) requireCachePlace(options.cache);
  for (const name of ["cacheMaxSize", "cacheMaxAge"] as const) {
    if (options[name] === undefined) continue;
    if (options.cache === undefined) throw new TypeError(`${name} is of no use without cache: name its folder`);
    if (isBucketAddress(options.cache)) throw new TypeError(`${name} is for folders: set a rule of the bucket`);
    requireRange(name, options[name], 0, Number.MAX_SAFE_INTEGER);
  }
  const { immutable } = options;
  const isList = Array.isArray(immutable) && immutable.every((glob) => typeof glob === "string");
  if (immutable !== undefined && typeof immutable !== "function" && !isList) {
    throw new TypeError(`immutable ${immutable} is no list: use globs such as ["assets/**"], or a function`);
  }
  requireRange("minSize", settings.minSize, 0, Number.MAX_SAFE_INTEGER);
  requireRange("jobs", settings.jobs, 1, 256);
  if (!(settings.minSaving >= 0 && settings.minSaving < 1)) {
    throw new RangeError(`minSaving ${settings.minSaving} is out of range: use a share from 0 to less than 1`);
  }
  return settings;

  function levelOf(format: VariantFormat & Format): number {
    const { min, max, default: standard } = levels[format];
    const level = options.levels?.[format] ?? standard;
    requireRange(`${format} level`, level, min, max);
    return level;
  }
}

function requireRange(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} ${value} is out of range: use a whole number from ${min} to ${max}`);
}
