import type { Folder, HashedFile } from "./folder.ts";
import type { DeltaFormat, VariantFormat } from "./formats.ts";
import type { VariantRecord } from "./records.ts";
import type { PreviousVersion } from "./tree_files.ts";
import type { FoundFile } from "./walk.ts";

export interface PlannedVariant {
  readonly format: VariantFormat | DeltaFormat;
  /** The settings of the variant, as the manifest records them. */
  readonly settings: string;
  /** The record of an existing variant; undefined if it is to be made. */
  readonly record?: VariantRecord;
  readonly replacesAny: boolean;
  /** Whether another file's copy has the place, and stays there unless the variant replaces it. */
  readonly isBeside?: boolean;
  /** The dictionary, for a delta: the previous version of the file, or the dictionary of the site. */
  readonly dictionary?: HashedFile | undefined;
  /** A compressed form in its place that no run wrote: used unchanged, unless its bytes are a run's. */
  readonly theirs?: VariantRecord;
}

/** The variants that a file should have. */
export interface Work extends Copy {
  /** The previous versions of the file with other content, latest first. */
  readonly dictionaries: readonly PreviousVersion[];
  /** The SHA-256 of the site's dictionary, if the file gets deltas against it. */
  readonly siteDictionary?: string | undefined;
  /** The folder of the file, if it is not the run's, because a run made the file. */
  readonly folder?: Folder;
  readonly variants: readonly PlannedVariant[];
}

export interface Copy {
  readonly file: FoundFile;
  /** The SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  /** Whether its content never changes under its name; undefined if no run had the option `immutable`. */
  readonly immutable?: boolean | undefined;
}

/** A dictionary of the site that the run will write to the target. */
export interface NewDictionary {
  readonly file: FoundFile;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string;
}

/** All changes that a run will make in the target. */
export class Plan {
  /** All files that were read, with their variants, if any. */
  readonly works: Set<Work> = new Set();
  readonly copies: Set<Copy> = new Set();
  /** Files of the tree at the paths of other files' variants, copied like all others. */
  readonly extras: Set<Copy> = new Set();
  /** Paths of temporary files that killed runs left below the target. */
  readonly temporaries: Set<string> = new Set();
  /** Written files that get the original's time and permissions, by path. */
  readonly alike: Map<string, FoundFile> = new Map();
  /** Paths of obsolete written files, which are removed before any is made. */
  readonly stale: Set<string> = new Set();
  /** Real paths of places with a decision: other files that runs wrote are removed. */
  readonly decided: Set<string> = new Set();
  /** Paths of files that could not be read, whose variants in the target stay. */
  readonly unknown: Set<string> = new Set();
  /** Paths of files that could not be copied, of which no variants are made. */
  readonly failed: Set<string> = new Set();
  /** A dictionary of the site, which is written before the variants that need it are made. */
  newDictionary: NewDictionary | undefined;
  /** The file of the site's dictionary, once it exists, or undefined. */
  siteDictionary: HashedFile | undefined;

  /** Whether only the manifest in the target is to be changed. */
  get isEmpty(): boolean {
    const { works, copies, alike, stale, temporaries } = this;
    return this.newDictionary === undefined && [...works].every(isSettled) &&
      copies.size + alike.size + stale.size + temporaries.size === 0;
  }
}

export function isSettled({ variants }: Work): boolean {
  return variants.every(({ record }) => record !== undefined);
}
