import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { type Manifest, manifestName, readManifest } from "../precompress/mod.ts";
import { reasonOf } from "./failure.ts";
import type { Warn } from "./representation.ts";
import type { VariantKind } from "./variant_kinds.ts";

/** What the manifest says of a file. */
export interface RecordedContent {
  /** In bytes. */
  readonly size: number;
  /** In base64. */
  readonly sha256: string;
}

/** What the manifest says of a file that has variants. */
export interface RecordedFile extends RecordedContent {
  /** As it was read, by format: anything may be in there. */
  readonly variants: unknown;
  /** Of the former version that the deltas are against, in base64. */
  readonly dictionary: string | undefined;
}

/** The manifest's records. They are taken for what they are, something read from a file: each value is checked. */
export class ManifestRecords {
  readonly #files: object;
  readonly #mtimeMs: number;
  readonly #ctimeMs: number;

  private constructor(files: object, { mtimeMs, ctimeMs }: Stats) {
    this.#files = files;
    this.#mtimeMs = mtimeMs;
    this.#ctimeMs = ctimeMs;
  }

  /** Those of the manifest in `root`; undefined if there is none, or none that can be used, which is warned of. */
  static async in(root: string, warn: Warn): Promise<ManifestRecords | undefined> {
    const path = join(root, manifestName);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return undefined;
    let manifest: Manifest | undefined;
    try {
      if (!found.isFile()) throw new TypeError("it is not a regular file");
      manifest = await readManifest(root);
    } catch (error) {
      warn(manifestName, `it is not used, so that every file is read: ${reasonOf(error)}`);
    }
    return manifest && new ManifestRecords(manifest.files, found);
  }

  /**
   * Whether a file was as it is when the manifest was put here. Copies keep the time of the content's change or get a
   * new one, and nobody can set the time of the last change of any kind; a tick of the clock counts as later. What is
   * younger by either is in doubt, not wrong: a copied folder is, as far as it was copied after its manifest.
   */
  vouchesFor(found: Stats): boolean {
    return found.isFile() && found.mtimeMs <= this.#mtimeMs && found.ctimeMs < this.#ctimeMs;
  }

  /** The record of the file at `path`. */
  of(path: string): RecordedFile | undefined {
    const record = ownValue(this.#files, path);
    const content = contentOf(record);
    if (!content) return undefined;
    const dictionary = base64(ownValue(ownValue(record, "dictionary"), "sha256"));
    return { size: content.size, sha256: content.sha256, variants: ownValue(record, "variants"), dictionary };
  }

  /** The record of a variant that is to be there. */
  variantOf(file: RecordedFile, kind: VariantKind): RecordedContent | undefined {
    const variant = ownValue(file.variants, kind.format);
    if (ownValue(variant, "state") !== "kept" || (kind.isDelta && file.dictionary === undefined)) return undefined;
    return contentOf(variant);
  }
}

function contentOf(record: unknown): RecordedContent | undefined {
  const size = ownValue(record, "size");
  const sha256 = base64(ownValue(record, "sha256"));
  if (sha256 === undefined || !Number.isSafeInteger(size) || (size as number) < 0) return undefined;
  return { size: size as number, sha256 };
}

function ownValue(object: unknown, key: string): unknown {
  if (typeof object !== "object" || object === null || !Object.hasOwn(object, key)) return undefined;
  return (object as Record<string, unknown>)[key];
}

const hash = Buffer.alloc(32);

/** A SHA-256 in hexadecimal as base64; undefined if it is none. */
function base64(hex: unknown): string | undefined {
  if (typeof hex !== "string" || hex.length !== 64 || hash.write(hex, "hex") !== 32) return undefined;
  return hash.toString("base64");
}
