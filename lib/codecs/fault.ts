/** The reason for which a codec failed. */
export type CodecFault =
  /** A parameter is out of range. */
  | "parameter"
  /** The data cannot be decoded. */
  | "corrupt"
  /** The data ends too early. */
  | "truncated"
  /** The data goes on after its end. */
  | "trailing"
  /** The data asks for a larger window than the decoder may take. */
  | "window"
  /** The data was made with another dictionary. */
  | "dictionary"
  /** Memory ran out. */
  | "memory";

/** The numbers of the WASM modules; see `wasm/src/codec.rs`. */
const kinds: Readonly<Record<number, CodecFault>> = {
  [-1]: "parameter",
  [-2]: "corrupt",
  [-3]: "truncated",
  [-4]: "dictionary",
  [-5]: "memory",
};

/** The words of modules for what they count as corrupt, and what else it is. Nobody else has to know them. */
const words: readonly (readonly [CodecFault, string])[] = [
  ["trailing", "after the end of the stream"],
  ["window", "too much memory"],
];

/**
 * Makes the error of a codec that failed, with its `fault`.
 *
 * @param action The action that failed, as in `cannot decompress zstd`.
 * @param kind The number that the module gave.
 */
export function codecError(action: string, kind: number, message: string): Error {
  const told = kinds[kind] ?? "corrupt";
  const fault = told === "corrupt" ? words.find(([, text]) => message.includes(text))?.[0] ?? told : told;
  const text = `${action}: ${message}`;
  const error = fault === "memory" || fault === "parameter" ? new RangeError(text) : new TypeError(text);
  return Object.defineProperty(error, "fault", { value: fault });
}

/** Returns the reason for which a codec failed; undefined if an error is of something else. */
export function faultOf(error: unknown): CodecFault | undefined {
  return (error as { fault?: CodecFault } | null | undefined)?.fault;
}
