import type { SiteReport } from "./site_report.ts";
import { visibleName } from "./markup.ts";
import { formatName, noteOf } from "./words.ts";

/** The words of a page's data, to which its numbers are indexes. */
export interface PageWords {
  readonly types: readonly string[];
  readonly formats: readonly string[];
  readonly notes: readonly string[];
  /** Empty if there is nothing to compare with. */
  readonly changes: readonly string[];
}

/** The files of a site for the scripts of a page, by columns, which compress better than rows. */
export interface PageData extends PageWords {
  readonly path: readonly string[];
  readonly type: readonly number[];
  readonly note: readonly number[];
  readonly change: readonly number[];
  readonly size: readonly number[];
  /** By format, then by file; 0 where there is none. */
  readonly sizes: readonly (readonly number[])[];
}

/** The data of a page. `types`: the kinds of files in the order of their colours. */
export function pageDataOf(
  { files, formats }: Pick<SiteReport, "files" | "formats">,
  types: readonly string[],
): PageData {
  const notes = [...new Set(files.map(({ state }) => noteOf[state]))];
  const changes = [...new Set(files.flatMap(({ change }) => change ?? []))];
  return {
    types,
    formats: formats.map(formatName),
    notes,
    changes,
    path: files.map(({ path }) => visibleName(path)),
    type: files.map(({ type }) => types.indexOf(type)),
    note: files.map(({ state }) => notes.indexOf(noteOf[state])),
    change: files.map(({ change }) => change === undefined ? 0 : changes.indexOf(change)),
    size: files.map(({ size }) => size),
    sizes: formats.map((format) => files.map(({ sizes }) => sizes[format] ?? 0)),
  };
}
