import { fileStatus } from "../../runtime/mod.ts";
import type { Scan } from "./scan.ts";
import { reasonOf } from "./failure.ts";
import { type FileContent, readContent } from "./file_content.ts";
import { SMALL_BODY } from "./memory.ts";
import { dictionaryIn, faultInBytes } from "./variant_bytes.ts";

/** A variant to look at. */
export interface VariantToExamine {
  readonly file: number;
  readonly index: number;
  /** Whether the file is what the manifest says, so that the variant may be. */
  readonly isAsRecorded: boolean;
}

/**
 * Finds out what a variant holds; warns if it is none. Unless the manifest vouches for it, it is to be proven.
 *
 * @returns false if it is of other content than its file.
 */
export async function examineVariant(variant: VariantToExamine, scan: Scan): Promise<boolean> {
  if (variant.isAsRecorded && isSmallAndRecorded(variant, scan)) return true;
  const { index, file } = variant;
  const { found, warn, turns } = scan;
  const path = found.realPathOf(file, index);
  try {
    if (variant.isAsRecorded && isVouchedFor(path, index, scan)) return true;
    const content = await readContent(path, turns);
    const fault = faultOf(content, variant, scan);
    const isVouched = variant.isAsRecorded && found.contents.has(index);
    found.contents.set(index, content.size, content.sha256, "base64");
    found.see(index, content);
    if (fault !== undefined) {
      found.unfit.add(index);
      warn(pathOf(variant, scan), `this variant is left out: ${fault}`);
      return false;
    }
    if (!isVouched) found.unproven.add(index);
    const kind = found.kindOf(index)!;
    if (kind.dictionary) found.dictionaries.set(index, dictionaryIn(content, kind));
  } catch (error) {
    found.contents.clear(index);
    warn(pathOf(variant, scan), `this variant is left out: ${reasonOf(error)}`);
  }
  return true;
}

/** Leaves out those variants of a file that nothing vouches for: one beside them is of other content. */
export function leaveOutUnproven(file: number, { found, warn }: Scan): void {
  for (let index = found.firstOf(file) + 1; index < found.firstOf(file + 1); index++) {
    if (!found.unproven.delete(index)) continue;
    found.unfit.add(index);
    const why = "no manifest vouches for it, and another one beside it is not of this file";
    warn(found.paths.at(file) + found.kindOf(index)!.extension, `this variant is left out: ${why}`);
  }
}

function pathOf({ file, index }: VariantToExamine, { found }: Scan): string {
  return found.paths.at(file) + found.kindOf(index)!.extension;
}

/** Small ones are held against their hash when they are read, before they are sent; large ones never as a whole. */
function isSmallAndRecorded({ index }: VariantToExamine, { found: { contents } }: Scan): boolean {
  return contents.has(index) && contents.sizeOf(index) <= SMALL_BODY;
}

function isVouchedFor(path: string, index: number, { found, manifest }: Scan): boolean {
  if (!found.contents.has(index)) return false;
  const now = fileStatus(path);
  if (now.size !== found.contents.sizeOf(index) || !manifest!.vouchesFor(now)) return false;
  found.see(index, now);
  return true;
}

/** Returns the reason why a variant cannot be served, if any. */
function faultOf(content: FileContent, variant: VariantToExamine, { found }: Scan): string | undefined {
  const { file, index, isAsRecorded } = variant;
  const isRecorded = found.contents.has(index);
  const isRecordedOne = isRecorded && content.sha256 === found.contents.sha256Of(index);
  if (isRecorded && isAsRecorded) return isRecordedOne ? undefined : "it is not what precompress wrote; run it again";
  if (isRecordedOne) return "it was made of what the file was before; run precompress again";
  return faultInBytes(content, found.kindOf(index)!, found.contents.sizeOf(found.firstOf(file)));
}
