import { lstatSync, type Stats } from "node:fs";
import type { NameOptions, ProcessLock } from "../../files/internal.ts";
import type { ContainedPlace } from "./contained_path.ts";

/** The conditions of a sender for the name of its file: they must hold when the file takes it. */
export interface Claim {
  /** Makes the lock that other processes with conditions have in turn; not in a bucket, where the store checks. */
  lock?(): ProcessLock;
  /** Called with the status of what has the name, just before it is replaced. @throws {unknown} if it must not be. */
  check(status: Pick<Stats, "mtimeMs"> & { readonly etag?: string } | undefined): void;
}

/** Has a file take its name in its root, while its conditions hold. @throws {unknown} what a check threw, as it is. */
export async function takePlace(
  { reached, verify }: ContainedPlace,
  claim: Claim | undefined,
  take: (before: NameOptions["before"]) => Promise<void>,
): Promise<void> {
  if (claim === undefined && verify === undefined) return await take(undefined);
  const lock = claim?.lock?.();
  let refusal: { readonly error: unknown } | undefined;
  try {
    await lock?.take();
    await take(() => {
      try {
        verify?.();
        claim?.check(lstatSync(reached, { throwIfNoEntry: false }));
      } catch (error) {
        refusal = { error };
        throw error;
      }
    });
  } catch (error) {
    throw refusal === undefined ? error : refusal.error;
  } finally {
    lock?.release();
  }
}
