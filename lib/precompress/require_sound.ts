import { toldBy } from "./immutability.ts";
import { type PrecompressOptions, settingsOf } from "./options.ts";
import { selectionOf } from "./selection.ts";

/**
 * Checks options without a look at any file.
 *
 * @throws {TypeError | RangeError} if one is not what it should be.
 */
export async function requireSound(options: PrecompressOptions): Promise<void> {
  await selectionOf(settingsOf(options, 1));
  await toldBy(options.immutable);
}
