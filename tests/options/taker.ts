import type { Member, Schema } from "../../lib/streams/internal.ts";

/** A public function or class that takes options, and a call of it. */
export interface Taker {
  /** The schema of its options, which names it. */
  readonly schema: Schema<Readonly<Record<string, Member<unknown>>>>;
  /** The public interface of the options, of which a page has a table; undefined if it has no name. */
  readonly options?: string;
  /** Whether the options are a dictionary of a standard, of which other members are ignored. */
  readonly ignoresUnknown?: boolean;
  /** The names of other members that the call reads, which are not checked by the schema. */
  readonly unchecked?: readonly string[];
  /** Makes the call with `options`, beside those that it requires. `folder` is empty and removed afterwards. */
  readonly take: (options: Readonly<Record<string, unknown>>, folder: string) => unknown;
}

/** Returns options beside those that a call requires; accessors stay accessors, for which the required value stands in. */
export function beside<R extends object>(required: R, options: object): R {
  const all = { ...required };
  for (const [name, { get, ...descriptor }] of Object.entries(Object.getOwnPropertyDescriptors(options))) {
    const own = all[name as keyof R];
    Object.defineProperty(all, name, get ? { ...descriptor, get: () => get() ?? own, set: undefined } : descriptor);
  }
  return all;
}
