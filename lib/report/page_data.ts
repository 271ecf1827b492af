import type { SiteReport } from "./site_report.ts";
import { visibleName } from "./markup.ts";
import { formatName, noteOf } from "./words.ts";

/** The files of a site for the scripts of a page, in columns, which take a third of what objects would. */
export interface PageData {
  /** Two for each file: how many characters its path shares with the one before, and the rest of it. */
  readonly paths: readonly (number | string)[];
  readonly types: readonly string[];
  readonly formats: readonly string[];
  readonly notes: readonly string[];
  /** Empty if there is nothing to compare with. */
  readonly changes: readonly string[];
  /** Of each file, in the order of the paths; types, notes and changes are indexes. */
  readonly type: readonly number[];
  readonly note: readonly number[];
  readonly change: readonly number[];
  readonly size: readonly number[];
  /** A column for each format; 0 where a file has none. */
  readonly sizes: readonly (readonly number[])[];
}

/** @param types The kinds of files in the order of their colours. */
export function pageDataOf({ files, formats }: SiteReport, types: readonly string[]): PageData {
  const notes = [...new Set(files.map(({ state }) => noteOf[state]))];
  const changes = [...new Set(files.flatMap(({ change }) => change ?? []))];
  return {
    paths: frontCoded(files.map(({ path }) => visibleName(path))),
    types,
    formats: formats.map(formatName),
    notes,
    changes,
    type: files.map(({ type }) => types.indexOf(type)),
    note: files.map(({ state }) => notes.indexOf(noteOf[state])),
    change: changes.length === 0 ? [] : files.map(({ change }) => changes.indexOf(change!)),
    size: files.map(({ size }) => size),
    sizes: formats.map((format) => files.map(({ sizes }) => sizes[format] ?? 0)),
  };
}

function frontCoded(paths: readonly string[]): (number | string)[] {
  return paths.flatMap((path, i) => {
    const former = paths[i - 1] ?? "";
    let shared = 0;
    while (shared < path.length && path[shared] === former[shared]) shared++;
    return [shared, path.slice(shared)];
  });
}
