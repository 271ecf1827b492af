import type { RequestFields } from "../answer/request_fields.ts";

/** A request, as both handlers pass it on. */
export interface Asked {
  readonly method: string;
  /** The request target, or the URL. */
  readonly target: string;
  readonly fields: RequestFields;
  /**
   * The last part of a mount's path, encoded, if the request is for the mount itself without a slash after it; the
   * response is then a redirect to the slash, because relative links of a page would break.
   */
  readonly unslashed: string | undefined;
}
