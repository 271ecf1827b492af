/** What a page loads a file as. */
export type ReferenceKind = "script" | "style" | "image" | "font" | "other";

/** A file that a page or a style sheet refers to. */
export interface Reference {
  /** As it is written, to be resolved. */
  readonly url: string;
  readonly kind: ReferenceKind;
  /** Whether a browser may load it later or never, as an image that is out of view or a page to come. */
  readonly isLater: boolean;
}
