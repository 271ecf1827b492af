import { type FileHandle, open } from "node:fs/promises";
import type { Representation } from "./representation.ts";

/** Opens the file of a representation; undefined if it is not there any more, or another one by size or time. */
export async function openVerified({ file, size, mtimeMs }: Representation): Promise<FileHandle | undefined> {
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return undefined;
  const found = await handle.stat().catch(() => undefined);
  const isSame = found?.isFile() && found.size === size && (mtimeMs === undefined || found.mtimeMs === mtimeMs);
  if (isSame) return handle;
  await handle.close();
  return undefined;
}
