/** A body, read as fast as it can be written. */
export interface BodyReader {
  /**
   * Whether the read that waits asks its source for nothing, because too much is in use: so until the next
   * {@linkcode release}. The sender is not the slow one then.
   */
  readonly isHeldBack: boolean;
  /**
   * Reads the bytes that have arrived since: at least one, in pieces; undefined at the end. One call at a time.
   *
   * The pieces are good until {@linkcode release} is called for them, so that one write and one read go on together: at
   * most those of two reads may be waiting for it.
   *
   * @throws {UploadError} with the code `ABORTED` if the sender left, and what {@linkcode cancel} was given.
   */
  read(): Promise<readonly Uint8Array[] | undefined>;
  /** The pieces that were given the longest ago are not used any more: once for each read that gave some. */
  release(): void;
  /**
   * Lets go of the source; a call of `read()` that waits is rejected, and all that follow. Never rejects itself, and
   * does nothing after the end.
   */
  cancel(reason: unknown): Promise<void>;
}
