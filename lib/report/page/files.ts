import type { SiteReport } from "../site_report.ts";
import { formatName, noteOf, visibleName } from "../words.ts";

/** The words of a page's data, which refers to them by index. */
export interface PageWords {
  readonly types: readonly string[];
  readonly formats: readonly string[];
  readonly notes: readonly string[];
  /** The words for changes; empty without a comparison. */
  readonly changes: readonly string[];
}

/** The files of a site for a page's scripts, in columns, which compress better than rows. */
export interface PageData extends PageWords {
  readonly path: readonly string[];
  readonly type: readonly number[];
  readonly note: readonly number[];
  readonly change: readonly number[];
  readonly size: readonly number[];
  /** The sizes by format, then by file, or 0. */
  readonly sizes: readonly (readonly number[])[];
}

/** Returns the data of a page. `types`: the kinds of files in the order of their colours. */
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

/** Makes an element with a class and a text; names of files are only inserted as text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  text = "",
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  if (className !== "") made.className = className;
  if (text !== "") made.textContent = text;
  return made;
}

export interface ShownFile {
  readonly path: string;
  readonly type: number;
  readonly note: number;
  /** The change; undefined without a comparison. */
  readonly change: number | undefined;
  readonly size: number;
  /** The bytes for clients without dictionaries. */
  readonly sent: number;
  /** The sizes by format, or 0. */
  readonly sizes: readonly number[];
}

export interface ShownSite {
  readonly words: PageWords;
  readonly files: readonly ShownFile[];
}

/** Regroups the data of a page, made by `pageDataOf()`, by files. */
export function siteFrom(data: PageData): ShownSite {
  const { formats, changes } = data;
  // The formats that need no dictionary.
  const plain = [...formats.keys()].filter((i) => ["brotli", "zstd", "gzip"].includes(formats[i]!));
  const files = data.size.map((size, i): ShownFile => {
    const sizes = data.sizes.map((column) => column[i]!);
    return {
      path: data.path[i]!,
      type: data.type[i]!,
      note: data.note[i]!,
      change: changes.length === 0 ? undefined : data.change[i]!,
      size,
      sent: Math.min(size, ...plain.map((column) => sizes[column] || size)),
      sizes,
    };
  });
  return { words: data, files };
}

/** Unpacks data that is deflated JSON in base64. */
export function unpacked(text: string): Promise<PageData> {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).json();
}
