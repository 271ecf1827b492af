/** How far a body has come, and how long its sender took for that. */
export interface Pace {
  /** Bytes received so far. */
  readonly bytes: number;
  /** Milliseconds in which the sender kept us waiting so far: not those in which it was held back. */
  readonly waited: number;
}
