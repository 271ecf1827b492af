import type { NameOptions, ProcessLock } from "../../files/internal.ts";

/** The conditions of a sender for the name of its file: they must hold when the file takes it. */
export interface Claim {
  /** Makes the lock that other processes with conditions have in turn. */
  lock(): ProcessLock;
  /** Called with the status of what has the name, just before it is replaced. @throws {unknown} if it must not be. */
  readonly check: NonNullable<NameOptions["check"]>;
}

/**
 * Has a file take its name while the conditions for that hold.
 *
 * @throws {unknown} what `check()` threw, as it is; what `take()` is rejected with.
 */
export async function takeClaimed(
  claim: Claim | undefined,
  take: (check: NameOptions["check"]) => Promise<void>,
): Promise<void> {
  if (claim === undefined) return await take(undefined);
  const lock = claim.lock();
  let refusal: { readonly error: unknown } | undefined;
  try {
    await lock.take();
    await take((status) => {
      try {
        claim.check(status);
      } catch (error) {
        refusal = { error };
        throw error;
      }
    });
  } catch (error) {
    throw refusal === undefined ? error : refusal.error;
  } finally {
    lock.release();
  }
}
