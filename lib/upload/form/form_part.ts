/** A file of a form, as its sender describes it (RFC 7578, section 4). */
export interface FormPart {
  /** The name of the form's field. */
  readonly name: string;
  /**
   * The name that the file has at the sender: any text at all, also `../../etc/passwd` or nothing. Not to be used as a
   * path, or part of one.
   */
  readonly filename: string;
  /** The media type that the sender gives the file, with its parameters; `text/plain` if none is given. */
  readonly contentType: string;
}
