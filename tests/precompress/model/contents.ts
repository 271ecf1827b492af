import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { compressSync, ready } from "../../../lib/codecs/mod.ts";
import type { DeltaFormat, VariantFormat } from "../../../lib/precompress/mod.ts";
import { codecOf } from "../../../lib/precompress/formats.ts";
import { noise, sourceText } from "../../support/bytes.ts";
import { hashOf } from "./snapshot.ts";

/** The contents of the model's files: sizes around all limits, some of them incompressible. */
export const contents: readonly Uint8Array<ArrayBuffer>[] = [
  new Uint8Array(0),
  sourceText(300, 1),
  sourceText(1023, 2),
  sourceText(1024, 3),
  sourceText(1500, 4),
  sourceText(1600, 5),
  sourceText(3000, 6),
  sourceText(6000, 7),
  noise(2000, 8),
  noise(6000, 9),
  new Uint8Array(5000).fill(32),
  ...Array.from({ length: 12 }, (_, i) => sourceText(1200 + 211 * i, 20 + i)),
];

const byHash = new Map(contents.map((bytes) => [hashOf(bytes), bytes]));

/** Returns the content with that hash; undefined if the model has no such content. */
export function contentOf(hash: string): Uint8Array<ArrayBuffer> | undefined {
  return byHash.get(hash);
}

/** Loads the codecs. */
export const codecsReady: Promise<void> = ready();

const made = new Map<string, Uint8Array>();
/** The hash of the content, by format, hash of the compressed form, and its dictionary's hash. */
const forms = new Map<string, string>();

/** Returns the variant that a run makes of a content; always the same bytes. */
export function variantOf(
  content: Uint8Array<ArrayBuffer>,
  format: VariantFormat | DeltaFormat,
  level: number,
  dictionary?: Uint8Array<ArrayBuffer>,
): Uint8Array {
  const key = [hashOf(content), format, level, dictionary && hashOf(dictionary)].join();
  let variant = made.get(key);
  if (!variant) {
    made.set(
      key,
      variant = compressSync(content, { format: codecOf(format), level, ...(dictionary && { dictionary }) }),
    );
    forms.set(`${format} ${hashOf(variant)} ${dictionary && hashOf(dictionary)}`, hashOf(content));
  }
  return variant;
}

/** Compressed forms that people make by other tools: never the bytes that a run makes. */
export function formBy(content: Uint8Array<ArrayBuffer>, extension: ".br" | ".gz"): Uint8Array {
  if (extension === ".br") return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_LGWIN]: 16 } });
  const form = gzipSync(content, { level: 1 });
  form[9] = 3; // the system's number, where ours is 255
  return form;
}

for (const content of contents) {
  forms.set(`brotli ${hashOf(formBy(content, ".br"))} undefined`, hashOf(content));
  forms.set(`gzip ${hashOf(formBy(content, ".gz"))} undefined`, hashOf(content));
}

/** Returns the hash of the content in a compressed form; undefined if the form is not of that format. */
export function contentOfForm(
  hash: string,
  format: VariantFormat | DeltaFormat,
  dictionary?: Uint8Array,
): string | undefined {
  return forms.get(`${format} ${hash} ${dictionary && hashOf(dictionary)}`);
}
