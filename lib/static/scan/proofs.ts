import { type Codecs, isProvenAtOnce, isProvenInTurns, loadCodecs } from "./content_proof.ts";
import { isUndoable } from "../../semantics/mod.ts";
import type { Representation, TreeFile, Warn } from "./representation.ts";
import type { Tree } from "./tree.ts";
import type { Turns } from "./turns.ts";

/** Files up to this many bytes are decoded when they are first asked for: it takes some 2 ms. */
const SMALL = 256 * 1024;

/** The surroundings that {@linkcode Proofs} need. */
export interface ProofOptions {
  readonly warn: Warn;
  /** The content with that SHA-256 in base64, if it is at hand. */
  readonly contentOf: (sha256: string) => Uint8Array<ArrayBuffer> | undefined;
}

/**
 * Finds out which variants are forms of their files, where no manifest says so: they are decoded and compared before they
 * are sent for the first time. If one is not, those beside it are not sent either.
 */
export class Proofs {
  readonly #tree: Tree;
  readonly #options: ProofOptions;
  #codecs: Codecs | undefined;
  /** How many variants were decided about so far. */
  count = 0;

  constructor(tree: Tree, options: ProofOptions) {
    this.#tree = tree;
    this.#options = options;
  }

  /** Loads what is needed for decoding, if anything is to be proven. */
  async prepare(): Promise<void> {
    if (this.#tree.unproven > 0) this.#codecs = await loadCodecs();
  }

  /** Whether a representation is still to be decided about. */
  isOpen({ index, coding }: Representation): boolean {
    return coding !== "identity" && this.#tree.isOpen(index); // by its own name, a variant is a file like others
  }

  /** Whether a variant that is not open is a form of its file. */
  isProven({ index }: Representation): boolean {
    return this.#tree.sizeOf(index) !== undefined;
  }

  /** Whether any variant of a file is still to be decided about. */
  areOpen(file: TreeFile): boolean {
    return this.#tree.unproven > 0 && this.#openOf(file).length > 0;
  }

  /** Decides about the variants of a small file. Those of larger ones are not sent before {@linkcode settleAll}. */
  settle(file: TreeFile): void {
    if (file.identity.size > SMALL) return;
    for (const variant of this.#openOf(file)) {
      if (this.#tree.isOpen(variant.index)) this.#conclude(file, variant, this.#isProvenAtOnce(file, variant));
    }
  }

  /** Decides about the variants of all larger files. */
  async settleAll(turns: Turns, isOver: () => boolean): Promise<void> {
    for (let i = 0; i < this.#tree.length && this.#tree.unproven > 0; i++) {
      if (turns.isOver) await turns.next();
      const file = this.#tree.at(i);
      if (!file || file.identity.size <= SMALL) continue;
      for (const variant of this.#openOf(file)) {
        if (isOver()) return;
        if (this.#tree.isOpen(variant.index)) {
          this.#conclude(file, variant, await this.#isProven(file, variant, turns));
        }
      }
    }
  }

  #openOf({ variants, deltas }: TreeFile): Representation[] {
    return [...variants, ...deltas].filter(({ index }) => this.#tree.isOpen(index));
  }

  #isProvenAtOnce({ identity }: TreeFile, variant: Representation): boolean {
    const { coding, dictionary } = variant;
    if (coding === "identity") return true;
    const content = dictionary === undefined ? undefined : this.#options.contentOf(dictionary);
    if (dictionary !== undefined && content === undefined) return false;
    return isProvenAtOnce({ ...variant, coding }, identity, content, this.#codecs!);
  }

  async #isProven(file: TreeFile, variant: Representation, turns: Turns): Promise<boolean> {
    const { coding } = variant;
    if (!isUndoable(coding)) return this.#isProvenAtOnce(file, variant);
    return await isProvenInTurns({ ...variant, coding }, file.identity, turns);
  }

  #conclude(file: TreeFile, variant: Representation, isProven: boolean): void {
    this.count++;
    if (isProven) return this.#tree.prove(variant.index);
    for (const each of this.#openOf(file)) {
      this.#tree.disprove(each.index);
      this.#options.warn(pathOf(file, each), `this variant is left out: ${this.#reasonOf(each, variant)}`);
    }
  }

  #reasonOf(each: Representation, disproven: Representation): string {
    if (each !== disproven) return "no manifest vouches for it, and another one beside it is not of this file";
    if (each.dictionary === undefined) return "it does not decode to what the file holds: run precompress again";
    return "no manifest vouches for it, and it cannot be decoded to what the file holds: deploy the manifest with it";
  }
}

/** Returns the path of a variant below the folder. */
function pathOf({ path, identity }: TreeFile, { file }: Representation): string {
  return path + file.slice(identity.file.length);
}
