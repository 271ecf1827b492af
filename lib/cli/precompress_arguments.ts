import { requireSound } from "../precompress/internal.ts";
import type { PrecompressOptions, VariantFormat } from "../precompress/mod.ts";
import {
  byteCount,
  duration,
  oneFolder,
  type Parsed,
  readWords,
  requireThere,
  UsageError,
  wholeNumber,
} from "./usage.ts";

/** The text that `millrace precompress --help` prints. */
export const precompressHelp =
  `Compresses the files of a folder ahead of serving: app.js gets app.js.br, app.js.zst and app.js.gz.

usage: millrace precompress DIR [options]

  --out DIR              write a copy of the tree with the variants, instead of writing beside the files
  --formats LIST         brotli, zstd and gzip, separated by commas (default: all)
  --level-brotli N       0 to 11 (default 11)
  --level-zstd N         1 to 22 (default 19)
  --level-gzip N         1 to 12 (default 12)
  --min-size BYTES       leave smaller files alone; k, M or G may follow the number (default 1k, which is 1024)
  --min-saving PERCENT   keep a variant only if it saves this much (default 5)
  --include GLOB         compress only files whose path below DIR matches; can be repeated
  --exclude GLOB         do not compress files whose path below DIR matches; can be repeated
  --dotfiles             take names that begin with a dot, too (.well-known always is)
  --follow-links         follow symbolic links that lead out of DIR
  --previous DIR         the previous deploy: also make .dcb and .dcz deltas against it (RFC 9842)
  --site-dictionary      one dictionary of what the HTML pages share, and .site.dcb and .site.dcz deltas against it
  --report FILE          write a page about the run, report.html, or a summary in Markdown, report.md; can be repeated
  --cache DIR            take variants from a cache, and put there what it lacks; verified, for any number of machines;
                         s3://BUCKET/PREFIX is one in a bucket, of which the environment says more (AWS_ENDPOINT_URL, …)
  --cache-max-size BYTES remove from the cache, in the end, the variants not used for longest: 500M, 2G (default: none)
  --cache-max-age TIME   remove from the cache what was not used for so long: 12h, 30d (default: none)
  --immutable GLOB       the paths below DIR whose content never changes, for servers; can be repeated
  --jobs N               worker threads (default: one for each processor)
  --force                compress also what did not change, and over files that are in the way
  --check                write nothing; exit 1 if any variant is missing or stale
  --dry-run              write nothing; tell what a run would do
  --clean                remove what former runs wrote, and nothing else
  --json                 print the report as JSON
  --quiet                print errors only
  -h, --help; -v, --version

exit status: 0 done, 1 something failed (each named), 2 wrong usage, 130 or 143 interrupted
`;

/** The parsed command line of `millrace precompress`. */
export interface PrecompressArguments {
  readonly directory: string;
  readonly action: "precompress" | "check" | "dry-run" | "clean";
  readonly json: boolean;
  readonly quiet: boolean;
  /** Paths of the reports to write. */
  readonly reports: readonly string[];
  readonly options: PrecompressOptions;
}

const flags = {
  out: { type: "string" },
  formats: { type: "string" },
  "level-brotli": { type: "string" },
  "level-zstd": { type: "string" },
  "level-gzip": { type: "string" },
  "min-size": { type: "string" },
  "min-saving": { type: "string" },
  include: { type: "string", multiple: true },
  exclude: { type: "string", multiple: true },
  dotfiles: { type: "boolean" },
  "follow-links": { type: "boolean" },
  previous: { type: "string" },
  "site-dictionary": { type: "boolean" },
  report: { type: "string", multiple: true },
  cache: { type: "string" },
  "cache-max-size": { type: "string" },
  "cache-max-age": { type: "string" },
  immutable: { type: "string", multiple: true },
  jobs: { type: "string" },
  force: { type: "boolean" },
  check: { type: "boolean" },
  "dry-run": { type: "boolean" },
  clean: { type: "boolean" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean", short: "v" },
} as const;

/**
 * Reads the words after the program's name, of which the first may be `precompress`.
 *
 * @returns what they ask for, or which text to print.
 * @throws {UsageError} if they are off.
 */
export async function precompressArguments(
  words: readonly string[],
): Promise<PrecompressArguments | "help" | "version"> {
  const { values, positionals } = readWords(words, flags);
  if (values.help) return "help";
  if (values.version) return "version";
  const directory = oneFolder(positionals[0] === "precompress" ? positionals.slice(1) : positionals, "compress");
  const actions = (["check", "dry-run", "clean"] as const).filter((action) => values[action]);
  if (actions.length > 1) throw new UsageError(`--${actions.join(" and --")} exclude each other`);
  const reports = values.report ?? [];
  if (reports.length > 0 && actions[0]) {
    throw new UsageError(`--report is about a run that compresses: leave out --${actions[0]}`);
  }
  const options = optionsOf(values);
  await requireSound(options).catch((cause: Error) => {
    throw new UsageError(cause.message, { cause });
  });
  return {
    directory,
    action: actions[0] ?? "precompress",
    json: values.json ?? false,
    quiet: values.quiet ?? false,
    reports,
    options,
  };
}

/**
 * Requires that the folders are there which `parsed` names.
 *
 * @throws {UsageError} if one is not.
 */
export function requireFolders({ directory, action, options: { out, previous } }: PrecompressArguments): void {
  requireThere(action === "clean" ? out ?? directory : directory, "folder", "cannot read ");
  if (previous !== undefined) requireThere(previous, "folder", "--previous: cannot read ");
}

function optionsOf(values: Parsed<typeof flags>["values"]): PrecompressOptions {
  const { "cache-max-size": maxSize, "cache-max-age": maxAge } = values;
  return {
    ...(values.out !== undefined && { out: values.out }),
    ...(values.formats !== undefined && { formats: values.formats.split(",").map((f) => f.trim()) as VariantFormat[] }),
    levels: {
      ...numberOf("level-brotli", "brotli"),
      ...numberOf("level-zstd", "zstd"),
      ...numberOf("level-gzip", "gzip"),
    },
    ...(values["min-size"] !== undefined && { minSize: byteCount("min-size", values["min-size"]) }),
    ...(values["min-saving"] !== undefined && { minSaving: percentOf(values["min-saving"]) }),
    ...(values.include && { include: values.include }),
    ...(values.exclude && { exclude: values.exclude }),
    dotfiles: values.dotfiles ?? false,
    followLinks: values["follow-links"] ?? false,
    ...(values.previous !== undefined && { previous: values.previous }),
    siteDictionary: values["site-dictionary"] ?? false,
    ...(values.cache !== undefined && { cache: values.cache }),
    ...(maxSize !== undefined && { cacheMaxSize: byteCount("cache-max-size", maxSize) }),
    ...(maxAge !== undefined && { cacheMaxAge: duration("cache-max-age", maxAge) }),
    ...(values.immutable && { immutable: values.immutable }),
    ...numberOf("jobs", "jobs"),
    force: values.force ?? false,
  };

  function numberOf<Key extends string>(
    flag: "level-brotli" | "level-zstd" | "level-gzip" | "jobs",
    key: Key,
  ): Partial<Record<Key, number>> {
    const text = values[flag];
    return text === undefined ? {} : { [key]: wholeNumber(flag, text) } as Record<Key, number>;
  }
}

function percentOf(text: string): number {
  const match = /^(\d+(?:\.\d+)?)%?$/.exec(text);
  if (!match || Number(match[1]) >= 100) throw new UsageError(`--min-saving ${text} is not a percentage below 100`);
  return Number(match[1]) / 100;
}
