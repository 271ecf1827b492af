import type { Member, Schema } from "../../lib/streams/internal.ts";

/** A public function or class that takes options, and a call of it. */
export interface Taker {
  /** The schema of its options, which names it. */
  readonly schema: Schema<Readonly<Record<string, Member<unknown>>>>;
  /** The public interface of the options, of which a page has a table; undefined if it has no name. */
  readonly options?: string;
  /** Whether it is a dictionary of a standard, of which other members are ignored. */
  readonly ignoresUnknown?: boolean;
  /** Calls it with these options, beside those that it requires. `folder` is empty and removed afterwards. */
  readonly take: (options: Readonly<Record<string, unknown>>, folder: string) => unknown;
}
