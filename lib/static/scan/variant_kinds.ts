import { type DeltaFormat, extensions, type VariantFormat } from "../../precompress/mod.ts";
import { type StoredCoding, storedCodings } from "../../semantics/mod.ts";

/** A kind of file that stands beside others and holds a form of them. */
export interface VariantKind {
  /** Its place among {@linkcode variantKinds}. */
  readonly index: number;
  readonly coding: StoredCoding;
  /** The manifest's name of it. */
  readonly format: VariantFormat | DeltaFormat;
  readonly extension: string;
  /** The dictionary that is needed to read it: the file's former version, or that of the site. */
  readonly dictionary: "former" | "site" | undefined;
  /** The bytes that such a file begins with. */
  readonly magic: readonly number[];
}

/** The kinds that are read without a dictionary, or with a previous version of the file. */
const former: readonly VariantKind[] = (Object.keys(storedCodings) as StoredCoding[]).map((coding, index) => {
  const dictionary = coding === "dcb" || coding === "dcz" ? "former" : undefined;
  return { index, coding, dictionary, ...storedCodings[coding] };
});

/** All kinds. */
export const variantKinds: readonly VariantKind[] = [
  ...former,
  siteKind(former.length, "dcb"),
  siteKind(former.length + 1, "dcz"),
];

function siteKind(index: number, coding: "dcb" | "dcz"): VariantKind {
  const format = `site-${coding}` as const;
  return {
    index,
    coding,
    format,
    extension: extensions[format],
    dictionary: "site",
    magic: storedCodings[coding].magic,
  };
}
