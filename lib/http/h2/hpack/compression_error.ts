/**
 * A header block that cannot be decoded. The tables of both sides may differ from here on, so that the connection cannot go on:
 * COMPRESSION_ERROR.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4.3}
 */
export class CompressionError extends Error {
  /** `CompressionError`. */
  override readonly name: string = "CompressionError";
}
