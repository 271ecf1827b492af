import { type FileHandle, open } from "node:fs/promises";
import type { Variant } from "./variant.ts";

/** Opens the file of a variant; undefined if it is not there any more, or another one by size or time. */
export async function openVerified({ representation, mtimeMs }: Variant): Promise<FileHandle | undefined> {
  const { file, size } = representation;
  const handle = await open(file, "r").catch(() => undefined);
  if (handle === undefined) return undefined;
  const found = await handle.stat().catch(() => undefined);
  const isSame = found?.isFile() && found.size === size && found.mtimeMs === mtimeMs;
  if (isSame) return handle;
  await handle.close();
  return undefined;
}
