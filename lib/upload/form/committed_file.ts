import { lstat, unlink } from "node:fs/promises";

/** A file that has its name, and what is needed to take it away again. */
export interface CommittedFile {
  readonly path: string | undefined;
  /** Whether there was something before: a file, that is gone, so that this one has to stay; or a device. */
  readonly isReplacement: boolean;
  /** Which file it is, whatever is under its name later. */
  readonly identity: string | undefined;
}

/** Has `commit` give a file its name, which is `path`; undefined of a stream. */
export async function commitFile(path: string | undefined, commit: () => Promise<unknown>): Promise<CommittedFile> {
  const isReplacement = path !== undefined && await identityOf(path) !== undefined;
  await commit();
  return { path, isReplacement, identity: path === undefined ? undefined : await identityOf(path) };
}

/** Removes a file again that did not replace another, and is still there. Never rejects. */
export async function removeCommitted({ path, isReplacement, identity }: CommittedFile): Promise<void> {
  if (path === undefined || isReplacement || identity === undefined) return;
  if (await identityOf(path) !== identity) return;
  await unlink(path).catch(() => {}); // the failure that led here is the one to tell
}

async function identityOf(path: string): Promise<string | undefined> {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined);
  return stats && `${stats.dev}:${stats.ino}`;
}
