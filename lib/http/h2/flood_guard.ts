import { ConnectionFault, ENHANCE_YOUR_CALM } from "./protocol.ts";

/** So many more frames that lead to nothing may come in a second than frames that do. */
const ALLOWED = 1000;
const SECOND = 1000;
/** The most credit that is saved up: a server may answer late, and all at once. */
const SAVED = 20_000;
/** So many answers wait at most for a transport that takes nothing. */
const ANSWERS = 1000;

/**
 * Bounds what a server can make us do to no end: SETTINGS and PINGs to be answered, empty DATA, resets of streams that are gone,
 * informational responses. What moves requests on earns the right to some of it.
 */
export class NoiseBudget {
  #noise = 0;
  #answers = 0;
  #since: number = performance.now();

  /**
   * Counts a frame that leads to nothing.
   *
   * @throws {ConnectionFault} if there were too many.
   */
  count(): void {
    if (++this.#noise <= ALLOWED) return;
    // The clock is asked only here.
    const now = performance.now();
    if (now - this.#since < SECOND) {
      throw new ConnectionFault(ENHANCE_YOUR_CALM, "the server sends a flood of frames that lead to nothing");
    }
    this.#noise = 0;
    this.#since = now;
  }

  /** Something was moved on, which may bring about so many frames. */
  earn(frames: number): void {
    this.#noise = Math.max(this.#noise - frames, -SAVED);
  }

  /**
   * Counts an answer that the server makes us give.
   *
   * @param isFull Whether the transport takes nothing, as the server does not read.
   * @throws {ConnectionFault} if too many wait.
   */
  countAnswer(isFull: boolean): void {
    this.count();
    this.#answers = isFull ? this.#answers + 1 : 0;
    if (this.#answers <= ANSWERS) return;
    throw new ConnectionFault(
      ENHANCE_YOUR_CALM,
      `the server does not read the answers that it asks for: ${ANSWERS} wait`,
    );
  }
}
