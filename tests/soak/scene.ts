/** A scene of repeated rounds, which must leave nothing open. */
export interface Scene {
  readonly name: string;
  /** The description of a round, for `--help`. */
  readonly what: string;
  open(): Promise<OpenScene> | OpenScene;
}

/** A running scene. */
export interface OpenScene {
  /**
   * Runs one more round, of some tenths of a second.
   *
   * @throws if a check fails.
   */
  round(index: number): Promise<void>;
  close(): Promise<void>;
}
