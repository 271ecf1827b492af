import { fileStatus } from "../../runtime/mod.ts";
import { examineVariant, leaveOutUnproven } from "./examined_variant.ts";
import { reasonOf } from "./failure.ts";
import { readContent } from "./file_content.ts";
import type { Scan } from "./scan.ts";

/** Finds out what a file and its variants hold; warns of what is not as it should be and leaves it out. */
export async function examine(file: number, scan: Scan): Promise<void> {
  const { found, warn } = scan;
  const { contents } = found;
  const first = found.firstOf(file);
  const end = found.firstOf(file + 1);
  let isAsRecorded = false;
  try {
    isAsRecorded = await examineOriginal(file, first, scan);
  } catch (error) {
    for (let i = first; i < end; i++) contents.clear(i);
    if (found.siteDictionary === file) found.siteDictionary = undefined;
    return warn(found.paths.at(file), `it is left out: ${reasonOf(error)}`);
  }
  if (!isAsRecorded && found.siteDictionary === file) found.siteDictionary = undefined;
  if (!isAsRecorded) found.immutable?.delete(file); // it did change
  let areAllFit = true;
  for (let i = first + 1; i < end; i++) {
    if (!await examineVariant({ file, index: i, isAsRecorded }, scan)) areAllFit = false;
  }
  if (!areAllFit) leaveOutUnproven(file, scan);
}

/** Whether the file holds what the manifest says. */
async function examineOriginal(file: number, index: number, scan: Scan): Promise<boolean> {
  const { found, warn, turns } = scan;
  const { contents } = found;
  const path = found.realPathOf(file, index);
  const isRecorded = contents.has(index);
  if (isRecorded && isVouchedFor(file, index, path, scan)) return true;
  const content = await readContent(path, turns);
  const isAsRecorded = isRecorded && content.sha256 === contents.sha256Of(index);
  contents.set(index, content.size, content.sha256, "base64");
  found.see(index, content);
  if (isRecorded && !isAsRecorded) {
    warn(found.paths.at(file), "it changed since precompress ran: what was made of it then is left out; run it again");
  }
  return isAsRecorded;
}

function isVouchedFor(file: number, index: number, path: string, { found, manifest, doubted }: Scan): boolean {
  if (doubted.size > 0 && doubted.has(found.paths.at(file))) return false;
  const now = fileStatus(path);
  if (now.size !== found.contents.sizeOf(index) || !manifest!.vouchesFor(now)) return false;
  found.see(index, now);
  return true;
}
