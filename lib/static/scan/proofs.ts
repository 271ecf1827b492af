import { createHash } from "node:crypto";
import { closeSync } from "node:fs";
import type { decompressSync } from "../../codecs/mod.ts";
import { whileRefused } from "../../files/internal.ts";
import { beginsWithData } from "../../precompress/internal.ts";
import { ContentDecoder, isUndoable, storedCodings, type UndoableCoding } from "../../semantics/mod.ts";
import type { TurnSlicer } from "../../timers/mod.ts";
import {
  CHUNK_SIZE,
  isPassingRefusal,
  openToRead,
  readFullyLater,
  readVerified,
  sha256,
  WHILE_REFUSED,
} from "./file_content.ts";
import type { Representation, TreeFile, Warn } from "./representation.ts";
import type { Tree } from "./tree.ts";

/**
 * Whether a variant, which is read in pieces, decodes to the content of `original`; undefined if it is corrupt, has more,
 * or is no longer what was scanned.
 */
async function isProvenInTurns(
  variant: Representation & { readonly coding: UndoableCoding },
  original: Representation,
  turns: TurnSlicer,
  decompress: typeof decompressSync,
): Promise<boolean | undefined> {
  const [hash, own] = [createHash("sha256"), createHash("sha256")];
  const [input, output] = [new Uint8Array(CHUNK_SIZE), new Uint8Array(CHUNK_SIZE)];
  const decoder = await ContentDecoder.open(variant.coding, undefined);
  let file: number | undefined;
  let [size, isFirst] = [0, variant.coding === "gzip"];
  try {
    file = openToRead(variant.file);
    while (true) {
      const length = await readFullyLater(file, input, CHUNK_SIZE);
      if (isFirst && !beginsWithData(input.subarray(0, length), decompress)) return undefined;
      isFirst = false;
      own.update(input.subarray(0, length));
      decoder.write(input.subarray(0, length));
      if (length < CHUNK_SIZE) decoder.end();
      do {
        const made = decoder.read(output);
        hash.update(output.subarray(0, made));
        size += made;
        if (size > original.size) return undefined;
        if (turns.isOver) await turns.next();
      } while (!decoder.needsInput && !decoder.isDone);
      if (decoder.isDone) break;
    }
    if (decoder.trailing !== undefined || own.digest("base64") !== variant.sha256) return undefined;
    return hash.digest("base64") === original.sha256;
  } catch (error) {
    if (isPassingRefusal(error)) throw error;
    return undefined; // the variant is corrupt or missing
  } finally {
    decoder.close();
    if (file !== undefined) closeSync(file);
  }
}

/** The maximum size of files that are decoded at their first request, which takes some 2 ms. */
const SMALL = 256 * 1024;

interface ProofOptions {
  readonly warn: Warn;
  /** Returns the content with a SHA-256 in base64, if available. */
  readonly contentOf: (sha256: string) => Uint8Array<ArrayBuffer> | undefined;
}

/** The verification of variants without a manifest: each is decoded before it is sent. A wrong one drops the file's other variants. */
export class Proofs {
  readonly #tree: Tree;
  readonly #options: ProofOptions;
  /** The decoder, loaded before the first verification: most trees have a manifest. */
  #decompress: typeof decompressSync | undefined;
  /** The number of variants accepted or rejected so far. */
  count = 0;

  constructor(tree: Tree, options: ProofOptions) {
    this.#tree = tree;
    this.#options = options;
  }

  /** Loads the decoder if a variant needs verification. */
  async prepare(): Promise<void> {
    if (this.#tree.unproven === 0) return;
    const { decompressSync, ready } = await import("../../codecs/mod.ts");
    await ready(["brotli", "zstd", "gzip"], "decompress");
    this.#decompress = decompressSync;
  }

  /** Whether a representation is not verified yet. */
  isOpen({ index, coding }: Representation): boolean {
    // A variant that is requested by its own name is an ordinary file.
    return coding !== "identity" && this.#tree.isOpen(index);
  }

  /** Whether a checked variant is a form of its file. */
  isProven({ index }: Representation): boolean {
    return this.#tree.sizeOf(index) !== undefined;
  }

  areOpen(file: TreeFile): boolean {
    return this.#tree.unproven > 0 && this.#openOf(file).length > 0;
  }

  /**
   * Verifies the variants of a small file; returns false if some cannot be opened now. Those of larger files are not
   * sent before {@linkcode settleAll}.
   */
  settle(file: TreeFile): boolean {
    if (file.identity.size > SMALL || this.#decompress === undefined) return true;
    try {
      for (const variant of this.#openOf(file)) {
        if (variant.dictionary !== undefined && this.#tree.unread.size > 0) continue; // the dictionary may be unread
        if (this.#tree.isOpen(variant.index)) this.#conclude(file, variant, this.#isProvenAtOnce(file, variant));
      }
    } catch (error) {
      if (!isPassingRefusal(error)) throw error;
      return false;
    }
    return true;
  }

  /** Verifies the variants of all larger files; finally, of those that could not be opened before. */
  async settleAll(turns: TurnSlicer, isOver: () => boolean): Promise<void> {
    const later: (() => Promise<void>)[] = [];
    for (let i = 0; i < this.#tree.length && this.#tree.unproven > 0; i++) {
      if (turns.isOver) await turns.next();
      const file = this.#tree.at(i);
      if (!file || file.identity.size <= SMALL) continue;
      for (const variant of this.#openOf(file)) {
        const settle = async (): Promise<void> => {
          if (isOver() || !this.#tree.isOpen(variant.index)) return;
          this.#conclude(file, variant, await this.#isProven(file, variant, turns));
        };
        await settle().catch((error) => {
          if (!isPassingRefusal(error)) throw error;
          later.push(settle);
        });
      }
      if (isOver()) return;
    }
    for (const settle of later) await whileRefused(settle, { ...WHILE_REFUSED, deadline: Infinity });
  }

  #openOf({ variants, deltas }: TreeFile): Representation[] {
    return [...variants, ...deltas].filter(({ index }) => this.#tree.isOpen(index));
  }

  /** Whether a small variant decodes to the content of its file. */
  #isProvenAtOnce({ identity: { size, sha256: expected } }: TreeFile, variant: Representation): boolean {
    const { coding, dictionary: hash } = variant;
    if (coding === "identity") return true;
    const dictionary = hash === undefined ? undefined : this.#options.contentOf(hash);
    if (hash !== undefined && dictionary === undefined) return false;
    const bytes = readVerified(variant);
    if (bytes === undefined) return false;
    if (coding === "gzip" && size > 0 && !beginsWithData(bytes, this.#decompress!)) return false;
    try {
      const format = storedCodings[coding].format;
      return sha256(this.#decompress!(bytes, { format, maxSize: size, ...(dictionary && { dictionary }) })) ===
        expected;
    } catch {
      return false; // the variant is corrupt, or has more bytes
    }
  }

  async #isProven(file: TreeFile, variant: Representation, turns: TurnSlicer): Promise<boolean> {
    const { coding } = variant;
    if (!isUndoable(coding)) return this.#isProvenAtOnce(file, variant);
    const { verdicts } = this.#tree.large;
    const contents = `${variant.sha256} ${file.identity.sha256}`;
    const known = verdicts.get(variant.file);
    if (known?.contents === contents) return known.isProven;
    const isProven = await isProvenInTurns({ ...variant, coding }, file.identity, turns, this.#decompress!);
    if (isProven !== undefined) verdicts.set(variant.file, { contents, isProven });
    return isProven ?? false;
  }

  #conclude(file: TreeFile, variant: Representation, isProven: boolean): void {
    this.count++;
    if (isProven) return this.#tree.prove(variant.index);
    for (const each of this.#openOf(file)) {
      this.#tree.disprove(each.index);
      const path = file.path + each.file.slice(file.identity.file.length);
      this.#options.warn(path, `this variant is left out: ${this.#reasonOf(each, variant)}`);
    }
  }

  #reasonOf(each: Representation, disproven: Representation): string {
    if (each !== disproven) return "no manifest vouches for it, and another one beside it is not of this file";
    if (each.dictionary === undefined) return "it does not decode to what the file holds: run precompress again";
    return "no manifest vouches for it, and it cannot be decoded to what the file holds: deploy the manifest with it";
  }
}
