import type { PageData } from "../page_data.ts";

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

/** Puts the columns of `data` together. */
export function filesOf(data: PageData): ShownFile[] {
  let path = "";
  // Of the formats that need no dictionary.
  const plain = [...data.formats.keys()].filter((i) => ["brotli", "zstd", "gzip"].includes(data.formats[i]!));
  return data.size.map((size, i) => {
    path = path.slice(0, data.paths[2 * i] as number) + data.paths[2 * i + 1];
    const sizes = data.sizes.map((column) => column[i]!);
    return {
      path,
      type: data.type[i]!,
      note: data.note[i]!,
      change: data.change[i],
      size,
      sent: Math.min(size, ...plain.map((column) => sizes[column] || size)),
      sizes,
    };
  });
}
