import { clearTimeout, setTimeout } from "node:timers";

/** For how many ms a server's 100 (Continue) is waited for: many send none. */
const PATIENCE = 1000;

/**
 * A server's permission to send a request's body, as `expect: 100-continue` asks for it.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1}
 */
export class Permit {
  #given: boolean | undefined = undefined;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #settle: ((given: boolean) => void) | undefined = undefined;

  /** Waits for it, and not for long. Gives false if the body is not to be sent. */
  wait(): Promise<boolean> {
    if (this.#given !== undefined) return Promise.resolve(this.#given);
    this.#timer = setTimeout(() => this.give(), PATIENCE);
    return new Promise((resolve) => this.#settle = resolve);
  }

  /** The server is ready, or was asked long enough. */
  give(): void {
    this.#end(true);
  }

  /** The server has answered, or nobody sends the body any more. */
  refuse(): void {
    this.#end(false);
  }

  #end(given: boolean): void {
    this.#given ??= given;
    clearTimeout(this.#timer);
    this.#settle?.(this.#given);
  }
}
