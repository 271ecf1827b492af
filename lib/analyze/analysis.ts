import type { Finding } from "./finding.ts";

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
