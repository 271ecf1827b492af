/** Something that is done over and over, and is to leave nothing behind. */
export interface Scene {
  readonly name: string;
  /** The description of a round, for `--help`. */
  readonly what: string;
  open(): Promise<OpenScene> | OpenScene;
}

/** A scene that goes on. */
export interface OpenScene {
  /**
   * Does it once more; some tenths of a second long.
   *
   * @throws if something is not as it should be.
   */
  round(index: number): Promise<void>;
  close(): Promise<void>;
}
