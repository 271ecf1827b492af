import { outOfRange } from "../language/errors.ts";
import { type Callback, toCallback, toDictionary } from "../language/webidl.ts";

/** The size function of a CountQueuingStrategy, which needs no call. */
export const countSize = (): 1 => 1;

/** A size function: a user's, or `undefined` where every chunk counts as 1. */
export type SizeAlgorithm = Callback | undefined;

/** A strategy after conversion. */
export interface ConvertedStrategy {
  readonly highWaterMark: number | undefined;
  readonly size: Callback | undefined;
}

const NO_STRATEGY: ConvertedStrategy = { highWaterMark: undefined, size: undefined };

/** Converts a QueuingStrategy dictionary. */
export function toStrategy(value: unknown): ConvertedStrategy {
  if (value === undefined) return NO_STRATEGY;
  const dictionary = toDictionary(value, "the queuing strategy");
  const { highWaterMark } = dictionary;
  const mark = highWaterMark === undefined ? undefined : +(highWaterMark as number);
  return { highWaterMark: mark, size: toCallback(dictionary.size, "the strategy's size") };
}

/**
 * ExtractHighWaterMark.
 *
 * @throws {RangeError} if it is negative or NaN.
 */
export function extractHighWaterMark(strategy: ConvertedStrategy, defaultMark: number): number {
  const { highWaterMark } = strategy;
  if (highWaterMark === undefined) return defaultMark;
  if (!(highWaterMark >= 0)) throw outOfRange(`highWaterMark must be at least 0, not ${highWaterMark}`);
  return highWaterMark;
}

/** ExtractSizeAlgorithm; calling CountQueuingStrategy's function cannot be observed, so it is not called. */
export function extractSizeAlgorithm(strategy: ConvertedStrategy): SizeAlgorithm {
  return strategy.size === countSize ? undefined : strategy.size;
}
