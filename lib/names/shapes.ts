import { fileNameOf } from "./file_name.ts";
import { Shape } from "./shape.ts";
import { type Tail, tailsOf } from "./tail.ts";

/** How many files of one kind in a folder are looked at: all of a large folder would take many ms. */
const ENOUGH = 128;

/** The tails of files of one kind in a folder, by shape: their separator and length. */
export class Shapes {
  /** How many files there are. */
  files = 0;
  /** How many of them were looked at. */
  seen = 0;
  /** How many of those have a clear tail. */
  clear = 0;
  readonly #shapes = new Map<string, Shape>();

  /** Takes note of files by their paths. */
  add(paths: readonly string[]): void {
    this.files += paths.length;
    for (const path of sampleOf(paths)) {
      const { start, end } = fileNameOf(path)!;
      let isClear = false;
      for (const tail of tailsOf(path, start, end)) {
        this.#shape(keyOf(tail)).add(path, start, tail);
        isClear ||= tail.isClear;
      }
      this.seen++;
      if (isClear) this.clear++;
    }
  }

  /** The tails of the same shape as `tail`. */
  get(tail: Tail): Shape | undefined {
    return this.#shapes.get(keyOf(tail));
  }

  [Symbol.iterator](): IterableIterator<[string, Shape]> {
    return this.#shapes[Symbol.iterator]();
  }

  #shape(key: string): Shape {
    let shape = this.#shapes.get(key);
    if (!shape) this.#shapes.set(key, shape = new Shape());
    return shape;
  }
}

/** The shape of a tail. */
export function keyOf({ separator, start, end }: Tail): string {
  return separator + (end - start);
}

/** Paths from all over a long list. */
function sampleOf(paths: readonly string[]): readonly string[] {
  const step = paths.length / ENOUGH;
  return step <= 1 ? paths : Array.from({ length: ENOUGH }, (_, i) => paths[Math.floor(i * step)]);
}
