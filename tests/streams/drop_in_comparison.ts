import assert from "node:assert/strict";
import test from "node:test";
import { runtime } from "../support/runtime.ts";
import { native, ours, type StreamClasses } from "./drop_in_implementations.ts";

/** The observation of a body: plain data, with errors by name unless they are the body's own. */
export type Observation = unknown;

/** The settings of a comparison. */
export interface ComparisonOptions {
  /**
   * The observation that the standard demands; omitted where runtimes differ, which leaves native streams as the
   * measure.
   */
  readonly expected?: Observation;
  /** The reason why this runtime cannot take part. */
  readonly skip?: string | false;
}

/**
 * Declares a test that runs `body` with the runtime's own streams and with ours and demands the same observation: what
 * native streams do in a place of this runtime is what ours are to do there.
 */
export function sameAsNative(
  behaviour: string,
  body: (streams: StreamClasses) => Promise<Observation> | Observation,
  options: ComparisonOptions = {},
): void {
  test(behaviour, { skip: options.skip ?? false }, async () => {
    const reference = await body(native);
    if ("expected" in options) {
      assert.deepEqual(reference, options.expected, "the runtime's own streams are not as the test assumes");
    }
    assert.deepEqual(await body(ours), reference);
  });
}

/**
 * Declares a test of a place where other runtimes' own streams answer less than Node's: ours are to answer what Node's
 * do, on every runtime.
 */
export function sameAsNode(
  behaviour: string,
  body: (streams: StreamClasses) => Promise<Observation> | Observation,
  { expected }: { readonly expected: Observation },
): void {
  test(behaviour, async () => {
    if (runtime === "node") assert.deepEqual(await body(native), expected, "Node's own streams are not as assumed");
    assert.deepEqual(await body(ours), expected);
  });
}

/** Returns the name of the error that `action` throws or rejects with, or "nothing". */
export async function failure(action: () => unknown): Promise<string> {
  try {
    await action();
    return "nothing";
  } catch (error) {
    return nameOf(error);
  }
}

/** Whether `action` throws or rejects with exactly `reason`; its name where it is something else. */
export async function failsWith(reason: unknown, action: () => unknown): Promise<string | true> {
  try {
    await action();
    return "nothing";
  } catch (error) {
    return error === reason || nameOf(error);
  }
}

/** Returns the value of `promise`, or "still waiting" if it takes longer than any value should. */
export async function eventually<T>(promise: PromiseLike<T>, milliseconds = 10_000): Promise<T | "still waiting"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"still waiting">((resolve) => {
    timer = setTimeout(resolve, milliseconds, "still waiting");
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for everything that needs no I/O. */
export function quiet(milliseconds = 30): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function nameOf(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : `not an error: ${String(error)}`;
}
