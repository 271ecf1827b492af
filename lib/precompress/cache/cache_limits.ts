/** Limits of a folder of entries. */
export interface CacheLimits {
  /** In bytes, of all entries together. Default: none. */
  readonly maxSize: number | undefined;
  /** In ms, since an entry was last used. Default: none. */
  readonly maxAge: number | undefined;
}
