import { Buffer } from "node:buffer";
import type { StoredCoding } from "../../semantics/mod.ts";
import { NumberColumn } from "./found_files.ts";
import { readVerified } from "./file_content.ts";
import type { Representation } from "./representation.ts";
import type { Tree } from "./tree.ts";

/** The maximum bytes of a body kept in memory; a larger one is read from its file for each response. */
export const SMALL_BODY: number = 64 * 1024;
/** The size of an allocation. Separate buffers for 40,000 bodies would take 20 MB in addition to the bytes. */
const SLAB = 4 * 1024 * 1024;
/** The place of a representation that is not kept. */
const NOWHERE = -1;

/** The bytes of a tree's smallest representations, so that as many requests as possible need no file system. */
export class TreeMemory {
  /** The places of the representations' bytes, counted from the first slab on. */
  readonly #places: Float64Array;
  readonly #loaded: Uint8Array;
  readonly #slabs: Buffer<ArrayBuffer>[] = []; // Buffers: node:http would convert other arrays for each answer
  readonly #limit: number;
  #end = 0;
  #size = 0;
  #copies = 0;

  /** @param isSent Whether representations in a coding are sent at all. */
  constructor(tree: Tree, limit: number, isSent: (coding: StoredCoding | "identity") => boolean) {
    this.#limit = limit;
    this.#places = new Float64Array(tree.representations).fill(NOWHERE);
    this.#loaded = new Uint8Array(tree.representations);
    const sizes = new NumberColumn();
    for (let i = 0; i < tree.representations; i++) sizes.push(isSent(tree.codingOf(i)) ? tree.sizeOf(i) ?? NaN : NaN);
    let { largest, left } = whatFits(sizes, limit);
    for (let i = 0; i < sizes.length; i++) {
      const size = sizes.at(i);
      if (size < largest) {
        this.#give(i, size);
      } else if (size === largest && size <= left) {
        left -= size;
        this.#give(i, size);
      }
    }
  }

  get size(): number {
    return this.#size + this.#copies;
  }

  readonly keeps = (representation: number): boolean => this.#places[representation] !== NOWHERE;

  /** Whether a second copy of `size` bytes fits beside all planned bytes; if so, it is counted from now on. */
  readonly hasRoomFor = (size: number): boolean => {
    if (this.#end + this.#copies + size > this.#limit) return false;
    this.#copies += size;
    return true;
  };

  /** Returns the bytes of a kept representation, which the first call reads. */
  read(representation: Representation): Uint8Array<ArrayBuffer> | undefined {
    const { index, size } = representation;
    const place = this.#places[index];
    const number = Math.floor(place / SLAB);
    const slab = this.#slabs[number] ??= Buffer.alloc(Math.min(SLAB, this.#end - number * SLAB));
    const space = slab.subarray(place % SLAB, place % SLAB + size);
    if (this.#loaded[index]) return space;
    const bytes = readVerified(representation);
    if (!bytes) return undefined;
    space.set(bytes);
    this.#loaded[index] = 1;
    this.#size += size;
    return space;
  }

  #give(index: number, size: number): void {
    if (this.#end % SLAB + size > SLAB) this.#end = Math.ceil(this.#end / SLAB) * SLAB;
    this.#places[index] = this.#end;
    this.#end += size;
  }
}

/** Returns the largest size for which all smaller representations fit into `limit` bytes, and the bytes left for those of that size. */
function whatFits(sizes: NumberColumn, limit: number): { largest: number; left: number } {
  const totals = new Float64Array(SMALL_BODY + 1); // the total by size
  for (let i = 0; i < sizes.length; i++) {
    if (sizes.at(i) <= SMALL_BODY) totals[sizes.at(i)] += sizes.at(i);
  }
  let left = limit;
  let largest = 0;
  while (largest <= SMALL_BODY && totals[largest] <= left) left -= totals[largest++];
  return { largest, left: largest > SMALL_BODY ? 0 : left };
}
