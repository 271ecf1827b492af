import { fromPrintable } from "../markup.ts";
import type { PageHead, PageWords } from "../page_data.ts";

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

/** Reads the data of a page, which `pageDataOf()` made. */
export function siteFrom(bytes: Uint8Array): ShownSite {
  const text = new TextDecoder();
  let at = bytes.indexOf(0x0a) + 1;
  const head: PageHead = JSON.parse(text.decode(bytes.subarray(0, at)));
  const { count, endings, changes, formats } = head;
  const [shared, ending, note, change, size, first, ...others] = head.widths.map((width) => {
    const planes = bytes.subarray(at, at += width * count);
    return Array.from({ length: count }, (_, i) => {
      let value = 0;
      for (let place = width - 1; place >= 0; place--) value = value * 256 + planes[place * count + i]!;
      return value;
    });
  }) as [number[], number[], number[], number[], number[], ...number[][]];
  const rests = text.decode(bytes.subarray(at)).split("\n");
  // Of the formats that need no dictionary.
  const plain = [...formats.keys()].filter((i) => ["brotli", "zstd", "gzip"].includes(formats[i]!));
  let stem = "";
  const files = size.map((size, i): ShownFile => {
    stem = stem.slice(0, shared[i]) + rests[i]!;
    const [end, type] = endings[ending[i]!]!;
    const differences = others.map((column) => column[i]!).map((told) => told % 2 === 0 ? told / 2 : (told + 1) / -2);
    const sizes = first ? [first[i]!, ...differences.map((each) => first[i]! + each)] : [];
    return {
      path: stem + end,
      type,
      note: note[i]!,
      change: changes.length === 0 ? undefined : change[i]!,
      size,
      sent: Math.min(size, ...plain.map((column) => sizes[column] || size)),
      sizes,
    };
  });
  return { words: head, files };
}

/** Unpacks data that deflate compressed to `length` bytes. */
export async function unpacked(text: string, length: number): Promise<Uint8Array> {
  const stream = new Blob([fromPrintable(text, length)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
