import { GROWTH, NumberColumn } from "./number_column.ts";

const FREE = -1;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // what looks like one belongs to the path

/**
 * Many paths, each with a number, found by their text. They are kept as bytes: as strings in a `Map` each would take
 * some 100 bytes of the heap, and survive in what V8 keeps for the young, which grows with that.
 */
export class PathIndex {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(4096);
  /** The offset of each path in `#bytes`, and of the end of the last. */
  readonly #starts = new NumberColumn();
  /** Numbers of paths, each as near as can be to the place that its hash tells; at least half are free. */
  #slots: Int32Array<ArrayBuffer> = new Int32Array(1024).fill(FREE);
  /** The path to find or add, as bytes. */
  #wanted: Uint8Array<ArrayBuffer> = new Uint8Array(1024);

  constructor() {
    this.#starts.push(0);
  }

  get length(): number {
    return this.#starts.length - 1;
  }

  /** Adds a path that is not there yet; its number is the former {@linkcode length}. */
  add(path: string): void {
    const wanted = this.#encode(path);
    const start = this.#starts.at(this.length);
    const end = start + wanted.length;
    if (end > this.#bytes.length) this.#bytes = new Uint8Array(this.#bytes.buffer.transfer(Math.ceil(end * GROWTH)));
    this.#bytes.set(wanted, start);
    this.#starts.push(end);
    if (this.length * 2 > this.#slots.length) this.#rehash();
    else this.#slots[this.#slotOf(wanted)] = this.length - 1;
  }

  /** The number of a path, if it is there. */
  find(path: string): number | undefined {
    const found = this.#slots[this.#slotOf(this.#encode(path))];
    return found === FREE ? undefined : found;
  }

  /** The path with a number below {@linkcode length}. */
  at(index: number): string {
    return decoder.decode(this.#bytesAt(index));
  }

  #encode(path: string): Uint8Array {
    // A UTF-16 code unit is 3 bytes at most.
    if (path.length * 3 > this.#wanted.length) this.#wanted = new Uint8Array(path.length * 3);
    return this.#wanted.subarray(0, encoder.encodeInto(path, this.#wanted).written);
  }

  #bytesAt(index: number): Uint8Array {
    return this.#bytes.subarray(this.#starts.at(index), this.#starts.at(index + 1));
  }

  /** Returns the slot that holds `path`, or the free one for it. */
  #slotOf(path: Uint8Array): number {
    const last = this.#slots.length - 1; // a power of two less one
    let slot = hashOf(path) & last;
    while (this.#slots[slot] !== FREE && !this.#isAt(this.#slots[slot], path)) slot = (slot + 1) & last;
    return slot;
  }

  #isAt(index: number, path: Uint8Array): boolean {
    const start = this.#starts.at(index);
    if (this.#starts.at(index + 1) - start !== path.length) return false;
    for (let i = 0; i < path.length; i++) {
      if (this.#bytes[start + i] !== path[i]) return false;
    }
    return true;
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 4).fill(FREE);
    for (let i = 0; i < this.length; i++) this.#slots[this.#slotOf(this.#bytesAt(i))] = i;
  }
}

/** FNV-1a, mixed once more at the end so that its low bits depend on all. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  hash ^= hash >>> 15;
  return Math.imul(hash, 0x2c1b3c6d) >>> 0;
}
