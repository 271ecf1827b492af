import { isObject } from "../../language/webidl.ts";
import type { WritableStreamState } from "../../writable/stream_state.ts";

const { getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;

/** The TransformStream class and its getter. */
let ours: object;
let getWritable: unknown;
let stateOf: (transform: object) => { readonly writable: WritableStreamState } | undefined;

/** Called once, by the TransformStream class. */
export function setTransformStateOf({ prototype }: { readonly prototype: object }, given: typeof stateOf): void {
  ours = prototype;
  getWritable = getOwnPropertyDescriptor(prototype, "writable")!.get;
  stateOf = given;
}

/**
 * Makes an end for the stream that `pair.writable` gives, where `pair` is a TransformStream of ours and nobody has put
 * another getter in the place of the class's: so that stream needs no object, and on Bun no native side, as long as
 * nobody looks at it.
 */
export function unseenWritableEnd<End>(
  pair: unknown,
  End: new (state: WritableStreamState) => End,
): End | undefined {
  if (!isObject(pair) || getPrototypeOf(pair) !== ours || hasOwn(pair, "writable")) return undefined;
  if (getOwnPropertyDescriptor(ours, "writable")?.get !== getWritable) return undefined;
  const state = stateOf(pair);
  return state && new End(state.writable);
}
