import { FileCommand } from "./file_command.ts";

/**
 * Sees that a character that two strings share is written as one: half of a surrogate pair at the end of a string goes to
 * the next one, as in a TextEncoderStream.
 */
export class PairJoiner {
  /** The first half of a pair; "" if there is none. */
  #half = "";

  /** The chunks as they are to be written; what is no string is left as it is. */
  joined(chunks: readonly unknown[]): unknown[] {
    const joined: unknown[] = [];
    for (const chunk of chunks) {
      if (chunk instanceof FileCommand) {
        joined.push(chunk);
        continue;
      }
      if (typeof chunk !== "string" && this.#half !== "") joined.push(...this.rest());
      joined.push(typeof chunk === "string" ? this.#whole(chunk) : chunk);
    }
    return joined;
  }

  /** The half of a pair that is left where no string follows; it becomes U+FFFD in UTF-8. */
  rest(): string[] {
    const half = this.#half;
    this.#half = "";
    return half === "" ? [] : [half];
  }

  #whole(text: string): string {
    if (text === "") return "";
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    this.#half = (last & 0xfc00) === 0xd800 ? whole[whole.length - 1] : "";
    return this.#half === "" ? whole : whole.slice(0, -1);
  }
}
