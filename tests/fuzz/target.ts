import { Random } from "../streams/differential/random.ts";

/** A decoder or parser of untrusted bytes. */
export interface Target {
  readonly name: string;
  /** The description of its invariants, for `--help`. */
  readonly what: string;
  /** The limit of an input's size in bytes. */
  readonly maxSize: number;
  /** Meaningful texts, which mutations insert. */
  readonly tokens?: readonly string[];
  /** Returns the first inputs; those of `corpus/` are added. */
  seeds(): Promise<readonly Uint8Array[]> | readonly Uint8Array[];
  /**
   * Holds it to what it promises, for one input. Whatever else is chosen is chosen by {@link choices}, so that the same
   * input does the same again.
   *
   * @returns how it ended, without what differs from input to input: another ending makes an input worth keeping.
   * @throws if it does not keep its promise.
   */
  check(input: Uint8Array): Promise<string> | string;
}

/** Numbers that look random, and are the same for the same input. */
export function choices(input: Uint8Array): Random {
  let hash = 0x811c9dc5;
  for (const byte of input) hash = Math.imul(hash ^ byte, 0x01000193);
  return new Random(hash);
}

/** Returns the input in pieces of any size, each in memory of its own. */
export function cut(input: Uint8Array, random: Random): Uint8Array<ArrayBuffer>[] {
  const most = random.pick([1, 3, 20, 200, 5000]);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 0; at < input.length;) {
    const end = Math.min(input.length, at + 1 + random.below(most));
    pieces.push(Uint8Array.from(input.subarray(at, end)));
    at = end;
  }
  return pieces;
}

/** Returns a failure's kind: the class of its error and the words of its message, without numbers and quoted text. */
export function ending(error: unknown): string {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  const words = String(message).replace(/"(?:[^"\\]|\\.)*"/g, '"…"').replace(/\b(0x)?[0-9a-f]*\d[0-9a-f]*\b/gi, "N");
  return `${name}${typeof code === "string" ? ` ${code}` : ""}: ${words}`.slice(0, 100);
}
