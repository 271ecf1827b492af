import type { decompressSync } from "../codecs/mod.ts";
import { storedCodings } from "../semantics/mod.ts";

/**
 * A format that precompress writes beside a file.
 *
 * @example Leave zstd to those who serve it
 * ```ts
 * import { precompress, type VariantFormat } from "@millrace/streams/precompress";
 *
 * const formats: VariantFormat[] = ["brotli", "gzip"];
 * const { types } = await precompress("dist", { formats });
 * console.log(Object.keys(types[0]?.variants ?? {}).join(" ")); // brotli gzip
 * ```
 */
export type VariantFormat = "brotli" | "zstd" | "gzip";

/**
 * Every {@linkcode VariantFormat}, in the order in which reports list them.
 *
 * @example All but one
 * ```ts
 * import { precompress, variantFormats } from "@millrace/streams/precompress";
 *
 * const { compressed } = await precompress("dist", { formats: variantFormats.filter((format) => format !== "gzip") });
 * console.log(compressed.includes("index.html")); // true
 * ```
 */
export const variantFormats: readonly VariantFormat[] = ["brotli", "zstd", "gzip"];

/**
 * The deltas (RFC 9842): `dcb` and `dcz`, which `previous` adds, are made against the previous version of the same
 * file, and `dcb-2`, `dcz-2`, `dcb-3` and `dcz-3` against the versions before that, if `previous` names several
 * deploys; `site-dcb` and `site-dcz`, which `siteDictionary` adds, are made against the dictionary of the site.
 *
 * @example How large a delta is
 * ```ts
 * import { type DeltaFormat, precompress, readManifest } from "@millrace/streams/precompress";
 *
 * await precompress("dist", { previous: "dist-deployed", include: ["assets/*.js"] });
 * const { variants } = (await readManifest("dist"))!.files["assets/app-B1946AC9.js"]!;
 * const format: DeltaFormat = "dcb";
 * console.log(variants[format]!.size! < variants.brotli!.size!); // true
 * ```
 */
export type DeltaFormat = "dcb" | "dcz" | `dc${"b" | "z"}-${2 | 3}` | SiteDeltaFormat;

/**
 * A delta against the dictionary of the site.
 *
 * @example The extension of its files
 * ```ts
 * import { extensions, type SiteDeltaFormat } from "@millrace/streams/precompress";
 *
 * const format: SiteDeltaFormat = "site-dcb";
 * console.log(extensions[format]); // .site.dcb
 * ```
 */
export type SiteDeltaFormat = "site-dcb" | "site-dcz";

/**
 * The extension of each format's files, as nginx, Caddy and others expect it.
 *
 * @example Find a file's variants
 * ```ts
 * import { extensions, variantFormats } from "@millrace/streams/precompress";
 *
 * console.log(variantFormats.map((format) => `app.js${extensions[format]}`).join(" ")); // app.js.br app.js.zst app.js.gz
 * ```
 */
export const extensions: Readonly<Record<VariantFormat | DeltaFormat, string>> = {
  brotli: storedCodings.br.extension,
  zstd: storedCodings.zstd.extension,
  gzip: storedCodings.gzip.extension,
  dcb: storedCodings.dcb.extension,
  dcz: storedCodings.dcz.extension,
  "dcb-2": `.2${storedCodings.dcb.extension}`,
  "dcz-2": `.2${storedCodings.dcz.extension}`,
  "dcb-3": `.3${storedCodings.dcb.extension}`,
  "dcz-3": `.3${storedCodings.dcz.extension}`,
  "site-dcb": `.site${storedCodings.dcb.extension}`,
  "site-dcz": `.site${storedCodings.dcz.extension}`,
};

export const deltasOf: Readonly<Record<VariantFormat, readonly DeltaFormat[]>> = {
  brotli: ["dcb", "dcb-2", "dcb-3", "site-dcb"],
  zstd: ["dcz", "dcz-2", "dcz-3", "site-dcz"],
  gzip: [],
};

/** The maximum number of former versions against which a file has deltas. */
export const MAX_PREVIOUS = 3;

export function isDelta(format: VariantFormat | DeltaFormat): format is DeltaFormat {
  return /^(?:site-)?dc[bz]/.test(format);
}

/** Returns the index of the former version of a delta, counted from the latest. */
export function generationOf(format: VariantFormat | DeltaFormat): number {
  return Number(/-(\d)$/.exec(format)?.[1] ?? 1) - 1;
}

export function codecOf(format: VariantFormat | DeltaFormat): VariantFormat | "dcb" | "dcz" {
  return (/dc[bz]/.exec(format)?.[0] ?? format) as VariantFormat | "dcb" | "dcz";
}

/** Whether browsers, which stop after gzip's first member, decode data with this `head` and `tail` to all `size` bytes. */
export function isReadWhole(
  head: Uint8Array,
  tail: Uint8Array,
  size: number,
  decompress: typeof decompressSync,
): boolean {
  // The size of the last member's data modulo 2^32 (RFC 1952, section 2.3.1): that of all, if the others are empty.
  const last = new DataView(tail.buffer, tail.byteOffset + tail.length - 4).getUint32(0, true);
  return last === size % 2 ** 32 && (size === 0 || beginsWithData(head, decompress));
}

/**
 * Whether gzip data that begins with `head` has `least` bytes in its first member (RFC 1952, section 2.3): browsers
 * decode only that one.
 */
export function beginsWithData(head: Uint8Array, decompress: typeof decompressSync, least: number = 1): boolean {
  const flags = head[3] ?? 0;
  let start = 10;
  if (flags & 4) start += 2 + (head[start] ?? 0) + 256 * (head[start + 1] ?? 0);
  for (const text of [8, 16]) if (flags & text) start = head.indexOf(0, start) + 1;
  if (flags & 2) start += 2;
  try {
    decompress(head.subarray(start), { format: "deflate-raw", maxSize: least - 1 });
    return false;
  } catch (error) {
    return error instanceof RangeError; // there are more than `maxSize` bytes
  }
}
