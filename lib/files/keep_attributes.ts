import type { Stats } from "node:fs";
import type { OpenFile } from "./open_file.ts";

/** Codes of systems that give files away by their superuser only, or not at all. */
const mayNot: ReadonlySet<unknown> = new Set(["EPERM", "EINVAL", "ENOSYS", "ENOTSUP"]);

/**
 * Gives a file the permission bits of the one that it replaces, but for those that lend its owner's rights to who runs
 * it; and that one's owner and group, as far as this process may.
 */
export async function keepAttributes(file: OpenFile, { mode, uid, gid }: Stats): Promise<void> {
  const own = file.status();
  if (own.uid !== uid || own.gid !== gid) await keepOwner(file, uid, gid);
  if ((own.mode & 0o777) !== (mode & 0o777)) await file.chmod(mode & 0o777);
}

async function keepOwner(file: OpenFile, uid: number, gid: number): Promise<void> {
  try {
    await file.chown(uid, gid);
  } catch (error) {
    if (!mayNot.has((error as { code?: unknown }).code)) throw error;
  }
}
