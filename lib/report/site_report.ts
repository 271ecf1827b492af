import { basename } from "node:path";
import { hashedNames } from "../names/mod.ts";
import { type RunDetails, typeOf } from "../precompress/internal.ts";
import { type DeltaFormat, extensions, type FileRecord, type VariantFormat } from "../precompress/mod.ts";
import { type Changes, changesOf, type FileState, type Former, type SiteFile } from "./changes.ts";
import { type Visit, visitsOf } from "./visits.ts";

export interface SiteReport {
  readonly name: string;
  readonly run: RunDetails;
  /** Sorted by path. */
  readonly files: readonly SiteFile[];
  /** The formats that files have, in the order to list them. */
  readonly formats: readonly (VariantFormat | DeltaFormat)[];
  /** Undefined if there is nothing to compare with. */
  readonly changes: Changes | undefined;
  readonly visits: readonly Visit[];
}

export async function siteReportOf(run: RunDetails, former: Former | undefined): Promise<SiteReport> {
  const changes = former && changesOf(run.records, former);
  const stateOf = statesOf(run);
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
    name: basename(run.places.source),
    run,
    files,
    formats: formats.filter((format) => files.some(({ sizes }) => sizes[format] !== undefined)),
    changes,
    visits: await visitsOf(files, run.places.source),
  };
}

function sizesOf({ variants }: FileRecord): SiteFile["sizes"] {
  const sizes: Partial<Record<VariantFormat | DeltaFormat, number>> = {};
  for (const [format, { state, size }] of Object.entries(variants)) {
    if (state !== "unworthy") sizes[format as VariantFormat | DeltaFormat] = size!;
  }
  return sizes;
}

function statesOf({ report, leftAlone }: RunDetails): (path: string, hasVariants: boolean) => FileState {
  const compressed = new Set(report.compressed);
  const failed = new Set(report.problems.map(({ path }) => path));
  return (path, hasVariants) => {
    if (failed.has(path)) return "failed";
    if (hasVariants) return compressed.has(path) ? "compressed" : "unchanged";
    return leftAlone.get(path) ?? "unworthy";
  };
}
