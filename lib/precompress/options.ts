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
import { type CacheLimits, isAddress, isBucketAddress, partsOf } from "./cache/cache_store.ts";
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
  /** The bytes of input compressed so far, counted once for each format. */
  bytesDone: number;
  /** The bytes of input to compress in total, for the files known so far. */
  bytesTotal: number;
  /** The share of the work that is done, from 0 to 1: brotli's bytes take longer than gzip's. */
  fraction: number;
  /** The estimated remaining time in ms; undefined before an estimate is possible. */
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
   * The folder for a copy of the tree, with the variants. Files that were removed from the tree are removed there, too,
   * if an earlier run wrote them.
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
   * The level of each format; brotli deltas use at least 5.
   *
   * @default { brotli: 11, zstd: 19, gzip: 12 }
   */
  levels?: Partial<Record<VariantFormat, number>>;
  /**
   * The minimum size in bytes of a file to compress.
   *
   * @default 1024
   */
  minSize?: number;
  /**
   * The minimum share of a file's size that a variant must save, from 0 to 1.
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
   * Whether names that begin with a dot are included; `.well-known` always is.
   *
   * @default false
   */
  dotfiles?: boolean;
  /**
   * Whether symbolic links that lead out of the folder are followed: variants are written beside their targets, or into
   * the copy. If false, such links are problems.
   *
   * @default false
   */
  followLinks?: boolean;
  /**
   * A folder with the previous deploy: each file's previous version becomes the dictionary of a delta. With several
   * folders, latest first and at most 3, each different version becomes one: for clients that have skipped a deploy.
   *
   * @default none
   */
  previous?: string | readonly string[];
  /**
   * The number of deploys to use from `previous`, which then contains one folder for each deploy: the latest by the
   * folders' modification times, or by name. The folder that is being compressed may be among them, and is skipped.
   *
   * @default none: `previous` is a single deploy
   */
  retain?: number;
  /**
   * Whether the HTML pages get deltas against one dictionary of their common text, which is written to the folder:
   * after one page, a client gets all others much smaller. No dictionary is made if it would cost more than it saves. A
   * dictionary of an earlier run, or in `previous`, is kept while it saves about as much as a new one.
   *
   * @default false
   */
  siteDictionary?: boolean;
  /**
   * The folder of a cache, or `s3://BUCKET/PREFIX`: variants in it, by any run on any machine, are verified and used
   * instead of being compressed again. A folder is created if missing, and must be outside the run's folders. For a
   * bucket, the environment configures the store: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`,
   * `AWS_ENDPOINT_URL`.
   *
   * @default none
   */
  cache?: string;
  /**
   * The maximum size of the cache in bytes: at its end, a run removes the least recently used entries.
   *
   * @default none: no limit
   */
  cacheMaxSize?: number;
  /**
   * The maximum time in ms since the last use of a cache entry.
   *
   * @default none: no limit
   */
  cacheMaxAge?: number;
  /**
   * The files whose content never changes under their name, since the name contains a hash: globs on paths below the
   * folder, or a function of the path. The manifest records them, and the static handler then uses it instead of names:
   * clients revalidate all other files. Without the option, and if the function returns undefined, a file's record
   * stays until its content changes.
   *
   * @default records stay unchanged
   */
  immutable?: readonly string[] | ((path: string) => boolean | undefined);
  /**
   * The number of worker threads that compress.
   *
   * @default the number of processors
   */
  jobs?: number;
  /**
   * The maximum memory in bytes of all running jobs together: less memory means fewer parallel jobs, but always one.
   *
   * @default half of the available memory of the machine or the process's cgroup, at least 224 MiB
   */
  memory?: number;
  /**
   * Whether unchanged files are compressed again, and files at the paths of variants are overwritten.
   *
   * @default false
   */
  force?: boolean;
  /**
   * Whether the run only reports its changes, without writing a file.
   *
   * @default false
   */
  dryRun?: boolean;
  /** Stops the run, which removes its temporary files and rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with the run's progress, at most 20 times a second. */
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

/** The settings of a run: its options, with those of the cache combined. */
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
  if (cache !== undefined && isAddress(cache)) partsOf(cache); // refuses those that are no bucket's
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
