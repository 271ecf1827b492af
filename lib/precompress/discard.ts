import { rm } from "node:fs/promises";

/** Removes a temporary file, if it is there. One that cannot be removed now is when the next run finds it. */
export async function discard(temporary: string): Promise<void> {
  await rm(temporary, { force: true }).catch(() => {});
}
