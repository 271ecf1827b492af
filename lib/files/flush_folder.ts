import { OpenFile } from "./open_file.ts";

/** Error codes of systems that cannot flush a folder, or do not let this user open it. */
const refusals: readonly unknown[] = ["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOTSUP", "EPERM"];

/**
 * Waits until the names in a folder are on the disk, where the system can do that.
 *
 * @throws {Error} what the file system says, with its `code`.
 */
export async function flushFolder(path: string): Promise<void> {
  let folder: OpenFile | undefined;
  try {
    folder = await OpenFile.open(path, "r");
    await folder.sync();
  } catch (error) {
    if (!refusals.includes((error as { code?: unknown }).code)) throw error;
  } finally {
    await folder?.close();
  }
}
