import type { DeltaFormat, VariantFormat } from "../../precompress/mod.ts";
import { type StoredCoding, storedCodings } from "../../semantics/mod.ts";

/** A kind of file that stands beside others and holds a form of them. */
export interface VariantKind {
  /** Its place among {@linkcode variantKinds}. */
  readonly index: number;
  readonly coding: StoredCoding;
  /** The manifest's name of it. */
  readonly format: VariantFormat | DeltaFormat;
  readonly extension: string;
  /** Whether a former version is needed to read it. */
  readonly isDelta: boolean;
  /** What such a file begins with. */
  readonly magic: readonly number[];
}

/** All kinds. */
export const variantKinds: readonly VariantKind[] = (Object.keys(storedCodings) as StoredCoding[]).map(
  (coding, index) => ({ index, coding, isDelta: coding === "dcb" || coding === "dcz", ...storedCodings[coding] }),
);
