import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { AtomicFile, temporaryPath } from "../../files/mod.ts";
import type { Context } from "../context.ts";
import { discard } from "../discard.ts";
import type { NewDictionary } from "../plan.ts";

/**
 * Puts a new dictionary of the site into the target.
 *
 * @throws {Error} if that fails: nothing can be made against it then.
 */
export async function putDictionary(dictionary: NewDictionary, { ledger, target }: Context): Promise<void> {
  const { file: { path, mode, mtimeMs }, bytes, sha256, record } = dictionary;
  const temporary = temporaryPath(join(target.folder, path));
  try {
    closeSync(openSync(temporary, "wx", mode));
    const file = await AtomicFile.open(temporary, { temporary, mode, mtimeMs, followLinks: false });
    try {
      await file.write(bytes);
      await file.end();
    } catch (error) {
      await file.discard();
      throw error;
    }
    if (await target.put(path, { temporary, sha256, entry: { path, record }, replacesAny: false })) {
      ledger.compressed.add(path);
    }
  } finally {
    await discard(temporary);
  }
}
