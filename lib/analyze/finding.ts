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
