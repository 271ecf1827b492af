import type { DeltaFormat, VariantFormat } from "./formats.ts";
import type { DictionaryRecord, VariantRecord } from "./records.ts";
import type { FoundFile } from "./walk.ts";

export interface PlannedVariant {
  readonly format: VariantFormat | DeltaFormat;
  /** The settings to make it with, as the manifest records them. */
  readonly settings: string;
  /** The variant as it is, if nothing is to be made. */
  readonly record?: VariantRecord;
  /** Whether the variant takes its place whatever is there. */
  readonly replacesAny: boolean;
  /** Whether the copy of another file has the place, unless the variant takes it. */
  readonly isBeside?: boolean;
  /** Another form of the file, of no run, in its place: used as it is, unless it turns out to have the very bytes. */
  readonly theirs?: VariantRecord;
}

/** The variants that a file should have. */
export interface Work extends Copy {
  /** Its former versions, the latest first, each with the folder that its path is below. */
  readonly dictionaries: readonly (DictionaryRecord & { readonly folder: string })[];
  /** The SHA-256 of the dictionary of the site, if it gets deltas against that. */
  readonly siteDictionary?: string | undefined;
  /** The folder that it is in, if not that of the run: a run made the file. */
  readonly folder?: string;
  readonly variants: readonly PlannedVariant[];
}

export interface Copy {
  readonly file: FoundFile;
  /** The SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  /** Whether its content never changes under its name; undefined if no run had that option. */
  readonly immutable?: boolean | undefined;
}

/** A dictionary of the site that is to be put into the target. */
export interface NewDictionary {
  readonly file: FoundFile;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The SHA-256 of its bytes, in hexadecimal. */
  readonly sha256: string;
}

/** All that there is to do in the target. */
export class Plan {
  /** Each file that was read, with its variants; none if it is not worth any. */
  readonly works: Work[] = [];
  readonly copies: Copy[] = [];
  /** Files of the tree that stand where a variant of another would be, and are copied like all others. */
  readonly extras: Copy[] = [];
  /** Paths of temporary files that killed runs left below the target. */
  readonly temporaries: string[];
  /** Written files that get the original's time of change and permissions, by path. */
  readonly alike: Map<string, FoundFile> = new Map();
  /** Paths of obsolete written files, which are removed before any is made. */
  readonly stale: Set<string> = new Set();
  /** Real paths of the places with a decision: other files that a run wrote are removed. */
  readonly decided: Set<string> = new Set();
  /** Paths of files that could not be read, of which the target keeps what it has. */
  readonly unknown: Set<string> = new Set();
  /** Paths of files that could not be copied to the target: nothing is made of them. */
  readonly failed: Set<string> = new Set();
  /** A dictionary of the site to put there, before what needs it is made. */
  newDictionary: NewDictionary | undefined;

  constructor(temporaries: string[]) {
    this.temporaries = temporaries;
  }

  /** Whether nothing in the target is to be changed but its manifest. */
  get isEmpty(): boolean {
    const { works, copies, alike, stale, temporaries } = this;
    return this.newDictionary === undefined && works.every(isSettled) &&
      copies.length + alike.size + stale.size + temporaries.length === 0;
  }
}

export function isSettled({ variants }: Work): boolean {
  return variants.every(({ record }) => record !== undefined);
}
