import { levels } from "../codecs/mod.ts";
import {
  anyOf,
  bool,
  bytes,
  func,
  integer,
  listOf,
  type Member,
  nested,
  number,
  oneOf,
  refuseUnused,
  schema,
  type SchemaOf,
  signal,
  text,
} from "../streams/internal.ts";
import { type CacheLimits, isAddress, isBucketAddress, requireCachePlace } from "./cache/cache_store.ts";
import { deltasOf, MAX_PREVIOUS, type VariantFormat, variantFormats } from "./formats.ts";

/**
 * The progress of a run.
 *
 * @example Show it
 * ```ts
 * import { precompress, type PrecompressProgress } from "@millrace/streams/precompress";
 *
 * const onProgress = ({ fraction }: PrecompressProgress) => console.log(`${fraction * 100}%`);
 * await precompress("dist", { onProgress });
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
 * const options: PrecompressOptions = { out: "upload", include: ["*.html"], levels: { brotli: 5, zstd: 3, gzip: 6 } };
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
   * @default ["brotli", "zstd", "gzip"]
   */
  formats?: readonly VariantFormat[];
  /**
   * The level of each format; deltas of brotli use 5 at least.
   *
   * @default { brotli: 11, zstd: 19, gzip: 12 }
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
  /**
   * Globs on paths below the folder; only files that match one are compressed.
   *
   * @default []: all files
   */
  include?: readonly string[];
  /**
   * Globs on paths below the folder; files that match one are not compressed.
   *
   * @default none
   */
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
  /**
   * A folder with the previous deploy: each file's previous version becomes the dictionary of a delta. Of several
   * folders, the latest first and at most 3, each other version does: for clients that have skipped a deploy.
   *
   * @default none
   */
  previous?: string | readonly string[];
  /**
   * The number of deploys to take from `previous`, which is then a folder that holds them, each in a folder of its own:
   * the latest by the time of their folders, or by name. That which is compressed may be among them, and is passed over.
   *
   * @default none: previous is a deploy
   */
  retain?: number;
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
   * The size limit of the cache in bytes: a run ends by removing the entries that were not used for longest.
   *
   * @default none: it may grow
   */
  cacheMaxSize?: number;
  /**
   * The time in ms that an entry is kept in the cache after its last use.
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
  /**
   * The number of worker threads that compress.
   *
   * @default as many as there are processors
   */
  jobs?: number;
  /**
   * The memory in bytes that all jobs at work may need together: with less, fewer run at once. One always does.
   *
   * @default half of what the machine, or the process's cgroup, has to give; 224 MiB at the least
   */
  memory?: number;
  /**
   * Whether to compress anew files that did not change, and to write over files that are in the way.
   *
   * @default false
   */
  force?: boolean;
  /**
   * Whether to write nothing and only find out what a run would do.
   *
   * @default false
   */
  dryRun?: boolean;
  /** Stops the run, leaving no temporary file. */
  signal?: AbortSignal;
  /** Called as the run goes on, at most 20 times a second. */
  onProgress?: (progress: PrecompressProgress) => void;
}

export const levelOptions: SchemaOf<Partial<Record<VariantFormat, number>>, VariantFormat> = /* @__PURE__ */ schema(
  "precompress()",
  () => {
    const levelOf = (format: VariantFormat): Member<number, number> => {
      const { min, max, default: standard } = levels[format];
      return integer<number>(min, max, standard);
    };
    return { brotli: levelOf("brotli"), zstd: levelOf("zstd"), gzip: levelOf("gzip") };
  },
);

export const precompressOptions: SchemaOf<
  PrecompressOptions & { levels?: Record<VariantFormat, number> },
  Exclude<
    keyof PrecompressOptions,
    | "out"
    | "previous"
    | "retain"
    | "cache"
    | "cacheMaxSize"
    | "cacheMaxAge"
    | "immutable"
    | "jobs"
    | "memory"
    | "signal"
    | "onProgress"
  >
> = /* @__PURE__ */ schema("precompress()", () => ({
  out: folderPath(),
  formats: listOf(oneOf(variantFormats), "a list of formats", variantFormats),
  levels: nested(levelOptions, levelOptions()),
  minSize: bytes(1024),
  minSaving: number(0, 1, 0.05),
  include: listOf(text(), "a list of globs", []),
  exclude: listOf(text(), "a list of globs", []),
  dotfiles: bool(false),
  followLinks: bool(false),
  previous: anyOf([
    folderPath(),
    listOf(text(undefined, "the path of a folder", (path) => path !== ""), `a list of up to ${MAX_PREVIOUS} folders`),
  ]),
  retain: integer(1, MAX_PREVIOUS),
  siteDictionary: bool(false),
  cache: text(undefined, "the path of a folder or s3://BUCKET/PREFIX", (place) => place !== ""),
  cacheMaxSize: bytes(),
  cacheMaxAge: number(0, Infinity),
  immutable: anyOf([listOf(text(), "a list of globs"), func<(path: string) => boolean | undefined>()]),
  jobs: integer(1, 256),
  memory: bytes(),
  force: bool(false),
  dryRun: bool(false),
  signal: signal(),
  onProgress: func<(progress: PrecompressProgress) => void>(),
}));

function folderPath(): Member<string, undefined> {
  return text(undefined, "the path of a folder", (path) => path !== "");
}

/** {@linkcode PrecompressOptions} with their defaults, each of its type. */
export type CheckedOptions = ReturnType<typeof precompressOptions>;

/** The settings of a run: its options, with those of the cache together. */
export interface Settings extends Omit<CheckedOptions, "jobs"> {
  readonly jobs: number;
  readonly cacheLimits: CacheLimits;
}

/** Checks options that depend on each other. @throws {TypeError | RangeError} if they do not fit together. */
export function settingsOf(options: CheckedOptions, defaultJobs: number): Settings {
  const { formats, minSaving, previous, siteDictionary, cache, cacheMaxSize, cacheMaxAge } = options;
  if (formats.length === 0) throw new TypeError(`formats is empty: name one of ${variantFormats.join(", ")}`);
  for (const [name, value] of Object.entries({ previous, siteDictionary })) {
    if (!value || formats.some((format) => deltasOf[format].length > 0)) continue;
    throw new TypeError(`${name} is of no use without brotli or zstd: name one of them among formats`);
  }
  if (cache !== undefined) requireCachePlace(cache);
  if (cache === undefined || isBucketAddress(cache)) {
    const hint = cache ? "is for folders: set a rule of the bucket" : "is of no use without cache: name its folder";
    refuseUnused(options, ["cacheMaxSize", "cacheMaxAge"], hint);
  }
  if (Array.isArray(previous) && previous.length > MAX_PREVIOUS) {
    throw new RangeError(`previous names ${previous.length} folders: use the latest ${MAX_PREVIOUS}`);
  }
  if (previous === undefined) {
    refuseUnused(options, ["retain"], "is of no use without previous: name the folder of the deploys");
  } else if (options.retain !== undefined && [previous].flat().length !== 1) {
    throw new TypeError(`retain is for one folder of deploys, and previous names ${previous.length}`);
  }
  if (minSaving === 1) throw new RangeError("minSaving 1 is out of range: use a share from 0 to less than 1");
  return {
    ...options,
    formats: variantFormats.filter((format) => formats.includes(format)),
    jobs: options.jobs ?? defaultJobs,
    cacheLimits: { maxSize: cacheMaxSize, maxAge: cacheMaxAge },
  };
}

/** Returns options with all paths of folders mapped. */
export function withFolders<T extends PrecompressOptions>(options: T, change: (path: string) => string): T {
  const { out, previous, cache } = options;
  return {
    ...options,
    ...(out !== undefined && { out: change(out) }),
    ...(previous !== undefined && { previous: [previous].flat().map((each) => change(each)) }),
    ...(cache !== undefined && !isAddress(cache) && { cache: change(cache) }),
  };
}
