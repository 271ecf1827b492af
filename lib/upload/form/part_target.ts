/** What becomes of the bytes of a part. One call at a time. */
export interface PartTarget {
  /** Takes the next bytes; when it is done, the memory of the pieces may be used again. */
  write(pieces: readonly Uint8Array[]): Promise<void> | void;
  /** There are no more. */
  end(): Promise<void> | void;
}
