import { basename } from "node:path";
import { hashedNames } from "../names/mod.ts";
import { generationOf, type RunDetails, typeOf } from "../precompress/internal.ts";
import { type DeltaFormat, extensions, type FileRecord, type VariantFormat } from "../precompress/mod.ts";
import { type Changes, changesOf, type FileState, type Former, type SiteFile } from "./changes.ts";
import { type Visit, visitOf } from "./visits.ts";
import { isLoaded } from "./words.ts";

export interface SiteReport {
  readonly name: string;
  readonly run: RunDetails;
  /** The files, sorted by path. */
  readonly files: readonly SiteFile[];
  /** The formats that files have, in the order to list them. */
  readonly formats: readonly (VariantFormat | DeltaFormat)[];
  /** The changes; undefined without a comparison. */
  readonly changes: Changes | undefined;
  readonly visit: Visit | undefined;
  /** The transfers to visitors, for each previous deploy. */
  readonly updates: readonly Update[];
}

/** @param formers The former files, latest first: deploys, or the files that a run found. */
export async function siteReportOf(run: RunDetails, formers: readonly Former[]): Promise<SiteReport> {
  const [former] = formers;
  const changes = former && changesOf(run.records, former);
  const compressed = new Set(run.report.compressed);
  const failed = new Set(run.report.problems.map(({ path }) => path));
  const stateOf = (path: string, hasVariants: boolean): FileState => {
    if (failed.has(path)) return "failed";
    if (hasVariants) return compressed.has(path) ? "compressed" : "unchanged";
    return run.leftAlone.get(path) ?? "unworthy";
  };
  const hashIn = hashedNames(run.records.keys());
  const files = [...run.records].sort(([a], [b]) => a < b ? -1 : 1).map(([path, record]): SiteFile => {
    const sizes = sizesOf(record);
    const hasVariants = Object.keys(sizes).length > 0;
    const change = changes?.byPath.get(path)?.change;
    return {
      path,
      type: typeOf(path),
      size: record.size,
      sizes,
      state: stateOf(path, hasVariants),
      isImmutable: record.immutable ?? hashIn(path) !== undefined,
      change,
    };
  });
  const formats = Object.keys(extensions) as (VariantFormat | DeltaFormat)[];
  return {
    name: basename(run.places.source.path),
    run,
    files,
    formats: formats.filter((format) => files.some(({ sizes }) => sizes[format] !== undefined)),
    changes,
    visit: await visitOf(files, run.places.source.path),
    updates: formers.filter(({ isDeploy }) => isDeploy).map((each) => updateFrom(each, run.records)),
  };
}

function sizesOf({ variants }: FileRecord): SiteFile["sizes"] {
  const sizes: Partial<Record<VariantFormat | DeltaFormat, number>> = {};
  for (const [format, { state, size }] of Object.entries(variants)) {
    if (state !== "unworthy") sizes[format as VariantFormat | DeltaFormat] = size!;
  }
  return sizes;
}

/** The transfer of all files to visitors who have those of a former deploy. */
export interface Update {
  readonly name: string;
  /** The number of files that have changed, and of those with a delta against the visitors' version. */
  readonly changed: number;
  readonly hits: number;
  /** The bytes of changed and new files without deltas, and with them. */
  readonly plain: number;
  readonly bytes: number;
}

function updateFrom(former: Former, records: RunDetails["records"]): Update {
  const update = { name: former.name, changed: 0, hits: 0, plain: 0, bytes: 0 };
  for (const { path, change, formerPath, now } of changesOf(records, former).byPath.values()) {
    if (change === "same" || !isLoaded({ path })) continue;
    const delta = deltaSize(records.get(path)!, former.records.get(formerPath ?? "")?.sha256);
    if (change === "changed") update.changed++;
    if (delta < now) update.hits++;
    update.plain += now;
    update.bytes += Math.min(now, delta);
  }
  return update;
}

/** Returns the bytes of a file's smallest delta against the version with a hash; Infinity if there is none. */
function deltaSize({ dictionary, olderDictionaries = [], variants }: FileRecord, version: string | undefined): number {
  const age = [dictionary, ...olderDictionaries].findIndex((each) => each !== undefined && each.sha256 === version);
  const deltas = Object.entries(variants).filter(([name]) => /^dc[bz]/.test(name));
  return Math.min(
    ...deltas.map(([name, { size }]) => generationOf(name as DeltaFormat) === age ? size ?? Infinity : Infinity),
  );
}
