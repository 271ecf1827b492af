/**
 * The faults of a response: `broken`, it is an error or not in its coding; `uncompressed`; `compressed-badly`;
 * `uncacheable`, it is loaded whole on each visit; `never-304`, it is sent whole where it did not change;
 * `kept-too-long`, it is kept under a name without a hash; `asked-again`, it has a hash and is asked for on each visit;
 * `whole-updates`, each new version is sent whole.
 */
export type FindingKind =
  | "broken"
  | "uncompressed"
  | "compressed-badly"
  | "uncacheable"
  | "never-304"
  | "kept-too-long"
  | "asked-again"
  | "whole-updates";

/** A fault of a response. */
export interface Finding {
  readonly kind: FindingKind;
  /** For people. */
  readonly message: string;
}

/** Kinds that most sites have, and that fail no build. */
export const hints: ReadonlySet<FindingKind> = new Set(["whole-updates"]);

/** A file of a site as it was sent. */
export interface AnalyzedFile {
  /** Its URL after all redirects; the path of a folder's file. */
  readonly url: string;
  readonly status: number;
  /** Its media type, without parameters; empty if there is none. */
  readonly type: string;
  /** The content coding that it was sent in, as in `br`; `identity` if none. */
  readonly coding: string;
  /** The bytes of its body that came. */
  readonly sent: number;
  /** The bytes that precompress would have sent: no more than came. */
  readonly best: number;
  readonly findings: readonly Finding[];
}

/** The results of an analysis. */
export interface Analysis {
  readonly target: string;
  readonly files: readonly AnalyzedFile[];
  /** How many references lead to other origins. */
  readonly elsewhere: number;
  /** Why some files were not looked at; empty if all were. */
  readonly limits: readonly string[];
  /** Of all files. */
  readonly sent: number;
  readonly best: number;
}
