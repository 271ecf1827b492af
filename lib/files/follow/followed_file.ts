/** A file that is read as it grows. */
export interface FollowedFile {
  /** Tells it from other files, also from one of the same name. */
  readonly id: string;
  /** Reads the next bytes; undefined if there are none now. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Whether there is anything in it. */
  hasBytes(): boolean;
  close(): Promise<void>;
}

/** The files that are followed, one after the other. */
export interface Trail {
  /** The path or the series, for messages. */
  readonly path: string;
  /** Opens the file to begin with; undefined if there is none yet. */
  first(): Promise<FollowedFile | undefined>;
  /** Opens the file that came after `newest`, or any if there was none; undefined if there is none yet. */
  next(newest: FollowedFile | undefined): Promise<FollowedFile | undefined>;
}
