import { levelOptions, placesOf, precompressOptions, requireSound } from "../precompress/internal.ts";
import type { PrecompressOptions } from "../precompress/mod.ts";
import { Flags, optionsByPath } from "./flags.ts";
import { oneFolder, requireThere, UsageError } from "./usage.ts";

export const precompressFlags: Flags = new Flags(
  () => optionsByPath(precompressOptions, { levels: levelOptions }),
  [
    {
      option: "out",
      value: "DIR",
      help: "write a copy of the tree with the variants, instead of writing beside the files",
    },
    { option: "formats", value: "LIST", help: "brotli, zstd and gzip, separated by commas", otherwise: "all" },
    { option: "levels.brotli", name: "level-brotli", value: "N", help: "{range}" },
    { option: "levels.zstd", name: "level-zstd", value: "N", help: "{range}" },
    { option: "levels.gzip", name: "level-gzip", value: "N", help: "{range}" },
    { option: "minSize", value: "BYTES", help: "leave smaller files alone; k (1024), M or G may follow the number" },
    { option: "minSaving", value: "PERCENT", help: "keep a variant only if it saves this much" },
    { option: "include", value: "GLOB", help: "compress only files whose path below DIR matches; can be repeated" },
    { option: "exclude", value: "GLOB", help: "do not compress files whose path below DIR matches; can be repeated" },
    { option: "dotfiles", help: "take names that begin with a dot, too (.well-known always is)" },
    { option: "followLinks", help: "follow symbolic links that lead out of DIR" },
    {
      option: "previous",
      value: "DIR",
      help:
        "the previous deploy: also make .dcb and .dcz deltas against it (RFC 9842); again for up to 2 deploys before",
    },
    { option: "retain", value: "N", help: "--previous is a folder of deploys: take the latest so many, {range}" },
    {
      option: "siteDictionary",
      help: "one dictionary of what the HTML pages share, and .site.dcb and .site.dcz deltas against it",
    },
    {
      name: "report",
      value: "FILE",
      repeats: true,
      help: "write a page about the run, report.html, or a summary in Markdown, report.md; can be repeated",
    },
    {
      option: "cache",
      value: "DIR",
      help: "take variants from a cache, and put there what it lacks; verified, for any number of machines;\n" +
        "s3://BUCKET/PREFIX is one in a bucket, of which the environment says more (AWS_ENDPOINT_URL, …)",
    },
    {
      option: "cacheMaxSize",
      value: "BYTES",
      help: "remove from the cache, in the end, the variants not used for longest: 500M, 2G",
      otherwise: "none",
    },
    {
      option: "cacheMaxAge",
      value: "TIME",
      help: "remove from the cache what was not used for so long: 12h, 30d",
      otherwise: "none",
    },
    {
      option: "immutable",
      value: "GLOB",
      help: "the paths below DIR whose content never changes, for servers; can be repeated",
    },
    { option: "jobs", value: "N", help: "worker threads, {range}", otherwise: "one for each processor" },
    {
      option: "memory",
      value: "BYTES",
      help: "memory that all jobs at work may need together: with less, fewer run at once",
      otherwise: "half of what is free",
    },
    { option: "force", help: "compress also what did not change, and over files that are in the way" },
    { name: "check", help: "write nothing; exit 1 if any variant is missing or stale" },
    { option: "dryRun", help: "write nothing; tell what a run would do" },
    { name: "clean", help: "remove what former runs wrote, and nothing else" },
    { name: "json", help: "print the report as JSON" },
    { name: "quiet", help: "print errors only" },
  ],
);

export function precompressHelp(): string {
  return `Compresses the files of a folder ahead of serving: app.js gets app.js.br, app.js.zst and app.js.gz.

usage: millrace precompress DIR [options]

${precompressFlags.help()}
exit status: 0 done, 1 something failed (each named), 2 wrong usage, 130 or 143 interrupted
`;
}

export interface PrecompressArguments {
  readonly directory: string;
  readonly action: "precompress" | "check" | "dry-run" | "clean";
  readonly json: boolean;
  readonly quiet: boolean;
  readonly reports: readonly string[];
  readonly options: PrecompressOptions;
}

/** Parses the arguments of the program, the first of which may be `precompress`. */
export async function precompressArguments(
  words: readonly string[],
): Promise<PrecompressArguments | "help" | "version"> {
  const given = precompressFlags.parse(words);
  if (given.has("help")) return "help";
  if (given.has("version")) return "version";
  const folders = given.words[0] === "precompress" ? given.words.slice(1) : given.words;
  const directory = oneFolder(folders, "compress");
  const actions = (["check", "dry-run", "clean"] as const).filter((action) => given.has(action));
  if (actions.length > 1) throw new UsageError(`--${actions.join(" and --")} exclude each other`);
  const reports = given.texts("report");
  if (reports.length > 0 && actions[0]) {
    throw new UsageError(`--report is about a run that compresses: leave out --${actions[0]}`);
  }
  const options = given.options() as PrecompressOptions;
  const { out: _out, followLinks: _followLinks, ...others } = options;
  if (actions[0] === "clean" && Object.keys(others).length > 0) {
    throw new UsageError(
      "--clean removes all that former runs wrote: leave out all options but --out and --follow-links",
    );
  }
  await requireSound(options).catch((cause) => {
    throw given.explained(cause);
  });
  return {
    directory,
    action: actions[0] ?? "precompress",
    json: given.has("json"),
    quiet: given.has("quiet"),
    reports,
    options,
  };
}

export async function requireFolders({ directory, action, options }: PrecompressArguments): Promise<void> {
  const { out, previous } = options;
  requireThere(action === "clean" ? out ?? directory : directory, "folder", "cannot read ");
  for (const each of [previous ?? []].flat()) requireThere(each, "folder", "--previous: cannot read ");
  if (action === "clean") return;
  await placesOf(directory, options).catch((error) => {
    throw error.cause === undefined ? new UsageError(error.message, { cause: error }) : error;
  });
}
