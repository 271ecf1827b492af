import { Buffer } from "node:buffer";
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

export interface PageHead extends PageWords {
  readonly count: number;
  /** The ends of paths from their last dot on, each with its type. */
  readonly endings: readonly (readonly [ending: string, type: number])[];
  /** Of each column of numbers, in bytes. */
  readonly widths: readonly number[];
}

/**
 * The files of a site for the scripts of a page: a line of JSON, then columns of numbers, then the paths without their
 * endings, a line each. A number's bytes lie apart, the lowest of all files first, and sizes are told by their
 * difference to those of the first format: this compresses to three quarters of what JSON does. `types`: the kinds of
 * files in the order of their colours.
 */
export function pageDataOf(
  { files, formats }: Pick<SiteReport, "files" | "formats">,
  types: readonly string[],
): Uint8Array {
  const notes = [...new Set(files.map(({ state }) => noteOf[state]))];
  const changes = [...new Set(files.flatMap(({ change }) => change ?? []))];
  const names = files.map(({ path, type }) => partsOf(visibleName(path), types.indexOf(type)));
  const endings = new Map(names.map(({ key, ending, type }) => [key, [ending, type] as const]));
  const indexes = new Map([...endings.keys()].map((key, i) => [key, i]));
  const shared = names.map(({ stem }, i) => sharedLength(names[i - 1]?.stem ?? "", stem));
  const [first = [], ...others] = formats.map((format) => files.map(({ sizes }) => sizes[format] ?? 0));
  const columns = [
    shared,
    names.map(({ key }) => indexes.get(key)!),
    files.map(({ state }) => notes.indexOf(noteOf[state])),
    files.map(({ change }) => change === undefined ? 0 : changes.indexOf(change)),
    files.map(({ size }) => size),
    first,
    // Small numbers stand for small differences, whatever their sign.
    ...others.map((sizes) =>
      sizes.map((size, i) => size < first[i]! ? 2 * (first[i]! - size) - 1 : 2 * (size - first[i]!))
    ),
  ];
  const head: PageHead = {
    types,
    formats: formats.map(formatName),
    notes,
    changes,
    count: files.length,
    endings: [...endings.values()],
    widths: columns.map(widthOf),
  };
  const text = new TextEncoder();
  return Buffer.concat([
    text.encode(`${JSON.stringify(head)}\n`),
    ...columns.map(planesOf),
    text.encode(names.map(({ stem }, i) => stem.slice(shared[i])).join("\n")),
  ]);
}

/** @returns The path without its ending, which begins at the last dot, and a key of ending and type. */
function partsOf(path: string, type: number): { stem: string; ending: string; type: number; key: string } {
  const ending = /\.[^./]*$/.exec(path)?.[0] ?? "";
  return { stem: path.slice(0, path.length - ending.length), ending, type, key: `${type}${ending}` };
}

function sharedLength(former: string, path: string): number {
  let length = 0;
  while (length < path.length && path[length] === former[length]) length++;
  // A character of two code units is not divided.
  return /[\ud800-\udbff]$/.test(path.slice(0, length)) ? length - 1 : length;
}

function widthOf(column: readonly number[]): number {
  const most = column.reduce((a, b) => Math.max(a, b), 0);
  return Math.ceil(Math.log2(most + 1) / 8);
}

/** The lowest bytes of all numbers, then the next. */
function planesOf(column: readonly number[]): Uint8Array {
  const width = widthOf(column);
  const bytes = new Uint8Array(width * column.length);
  for (let place = 0; place < width; place++) {
    bytes.set(column.map((value) => Math.floor(value / 256 ** place)), place * column.length);
  }
  return bytes;
}
