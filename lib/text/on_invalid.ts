import { described } from "../streams/internal.ts";

/**
 * The function that an option `onInvalid` stands for; undefined if the stream is to fail.
 *
 * @throws {TypeError} if it is neither of the two words nor a function.
 */
export function checkedOnInvalid<Handler>(onInvalid: "throw" | "skip" | Handler = "throw"): Handler | undefined {
  if (onInvalid === "throw") return undefined;
  if (onInvalid === "skip") return (() => undefined) as Handler;
  if (typeof onInvalid === "function") return onInvalid;
  throw new TypeError(`onInvalid must be "throw", "skip" or a function, not ${described(onInvalid)}`);
}
