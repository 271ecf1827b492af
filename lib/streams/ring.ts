import { Runs } from "./runs.ts";

const SMALLEST = 8;
/** Above this, an emptied ring lets go of its array: one burst should not hold memory for the life of a stream. */
const LARGEST_KEPT = 1024;
const NONE: never[] = [];

/**
 * A first-in, first-out queue: the first item in a field, as most queues never hold a second one, and the others in a
 * ring of a power-of-two length. Items that come many at once to an empty queue stay in the arrays they came in.
 */
export class Ring<T> {
  length = 0;
  #first: T | undefined;
  /** The others; there is no array until there is a second item. */
  #items: (T | undefined)[] = NONE;
  #head = 0;
  /** While there are any, arrays hold all items, in place of the above. */
  #runs: Runs<T> | undefined;

  push(item: T): void {
    if (this.#runs !== undefined) this.#runs.push(item);
    else if (this.length > 0) this.#append(item);
    else this.#first = item;
    this.length++;
  }

  /** Pushes the items from `start` on, of which there must be one. The array belongs to the queue from then on. */
  pushAll(items: T[], start: number): void {
    if (this.length === 0) this.#runs = new Runs();
    if (this.#runs === undefined) {
      for (let i = start; i < items.length; i++) this.push(items[i]);
    } else {
      this.#runs.pushAll(items, start);
      this.length += items.length - start;
    }
  }

  /** Takes the first item; the ring must not be empty. */
  shift(): T {
    if (this.#runs !== undefined) return this.#shiftOfRuns();
    const item = this.#first as T;
    if (--this.length === 0) this.#first = undefined;
    else this.#advance();
    return item;
  }

  /** Takes some of the first items, at least one and at most `count`, in an array; the ring must not be empty. */
  shiftSome(count: number): T[] {
    const some = this.#runs === undefined ? [this.shift()] : this.#shiftRun(count);
    if (this.#runs === undefined) {
      for (let i = Math.min(count - 1, this.length); i > 0; i--) {
        some.push(this.shift());
      }
    }
    return some;
  }

  /** The first item; the ring must not be empty. */
  peek(): T {
    return this.#runs === undefined ? this.#first as T : this.#runs.peek();
  }

  clear(): void {
    this.length = 0;
    this.#first = undefined;
    this.#head = 0;
    this.#items = NONE;
    this.#runs = undefined;
  }

  #shiftOfRuns(): T {
    const item = this.#runs!.shift();
    if (--this.length === 0) this.#runs = undefined;
    return item;
  }

  #shiftRun(count: number): T[] {
    const run = this.#runs!.shiftRun(count);
    this.length -= run.length;
    if (this.length === 0) this.#runs = undefined;
    return run;
  }

  #append(item: T): void {
    const others = this.length - 1;
    if (others === this.#items.length) this.#grow();
    this.#items[(this.#head + others) & (this.#items.length - 1)] = item;
  }

  #advance(): void {
    const items = this.#items;
    const head = this.#head;
    this.#first = items[head];
    items[head] = undefined;
    this.#head = (head + 1) & (items.length - 1);
    if (this.length > 1) return;
    this.#head = 0; // no others are left: shallow queues stay on the same few slots
    if (items.length > LARGEST_KEPT) this.#items = NONE;
  }

  #grow(): void {
    const { length } = this.#items;
    const grown = new Array<T | undefined>(length === 0 ? SMALLEST : length * 2);
    for (let i = 0; i < length; i++) grown[i] = this.#items[(this.#head + i) & (length - 1)];
    this.#items = grown;
    this.#head = 0;
  }
}
