import type { PageData, PageWords } from "../page_data.ts";

/** Makes an element with a class and a text; names of files are only ever put in as text. */
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

/** A file as the page shows it. */
export interface ShownFile {
  readonly path: string;
  readonly type: number;
  readonly note: number;
  /** Undefined if there is nothing to compare with. */
  readonly change: number | undefined;
  readonly size: number;
  /** The bytes that clients without dictionaries get. */
  readonly sent: number;
  /** By format; 0 where there is none. */
  readonly sizes: readonly number[];
}

/** All that the page shows of files. */
export interface ShownSite {
  readonly words: PageWords;
  readonly files: readonly ShownFile[];
}

/** Gathers the data of a page, which `pageDataOf()` made, by files. */
export function siteFrom(data: PageData): ShownSite {
  const { formats, changes } = data;
  // Of the formats that need no dictionary.
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
