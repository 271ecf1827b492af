import { lstatSync } from "node:fs";
import type { Original, Scan } from "./examined_file.ts";
import { reasonOf } from "./failure.ts";
import { type FileContent, readContent } from "./file_content.ts";
import type { RecordedContent } from "./recorded_file.ts";
import { SMALL_BODY } from "./memory.ts";
import type { Representation } from "./representation.ts";
import { dictionaryIn, faultInBytes } from "./variant_bytes.ts";
import type { VariantKind } from "./variant_kinds.ts";

/** Finds out whether the file beside `original` is a variant to send; undefined if not, which is warned of. */
export async function examineVariant(
  file: string,
  kind: VariantKind,
  original: Original,
  scan: Scan,
): Promise<Representation | undefined> {
  const { record } = original;
  const recorded = record?.variants[kind.index];
  const dictionary = kind.isDelta ? record?.dictionary : undefined;
  try {
    // Small ones are read and held against their hash before they are sent, large ones never as a whole.
    if (recorded && recorded.size <= SMALL_BODY) return representation(file, kind, recorded, undefined, dictionary);
    const mtimeMs = recorded && timeIfVouchedFor(file, recorded, scan);
    if (mtimeMs !== undefined) return representation(file, kind, recorded!, mtimeMs, dictionary);
    const content = await readContent(file, scan.turns);
    const fault = faultOf(content, recorded, kind, original);
    if (fault === undefined) return representation(file, kind, content, content.mtimeMs, dictionaryIn(content, kind));
    scan.warn(original.path + kind.extension, `this variant is left out: ${fault}`);
  } catch (error) {
    scan.warn(original.path + kind.extension, `this variant is left out: ${reasonOf(error)}`);
  }
  return undefined;
}

function timeIfVouchedFor(file: string, recorded: RecordedContent, { manifest }: Scan): number | undefined {
  const found = lstatSync(file);
  return found.size === recorded.size && manifest!.vouchesFor(found) ? found.mtimeMs : undefined;
}

/** What is wrong with a variant. */
function faultOf(
  content: FileContent,
  recorded: RecordedContent | undefined,
  kind: VariantKind,
  original: Original,
): string | undefined {
  if (recorded) {
    return content.sha256 === recorded.sha256 ? undefined : "it is not what precompress wrote; run it again";
  }
  const former = original.outdated?.variants[kind.index];
  if (former?.sha256 === content.sha256) return "it was made of a former content of the file; run precompress again";
  if (isOlder(content.mtimeMs, original.mtimeMs)) return "it is older than the file";
  return faultInBytes(content, kind, original.identity.size);
}

/** Some tools copy the time of a file to its variant in whole seconds. */
function isOlder(mtimeMs: number, originalMs: number): boolean {
  return mtimeMs < (mtimeMs % 1000 === 0 ? Math.floor(originalMs / 1000) * 1000 : originalMs);
}

function representation(
  file: string,
  { coding }: VariantKind,
  { size, sha256 }: RecordedContent,
  mtimeMs: number | undefined,
  dictionary: string | undefined,
): Representation {
  return { file, coding, size, sha256, mtimeMs, dictionary };
}
