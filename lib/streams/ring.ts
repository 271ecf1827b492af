const SMALLEST = 8;
/** Above this, an emptied ring lets go of its array: one burst should not hold memory for the life of a stream. */
const LARGEST_KEPT = 1024;
const NONE: never[] = [];

/**
 * A first-in, first-out queue: the first item in a field, as most queues never hold a second one, and the others in a
 * ring of a power-of-two length.
 */
export class Ring<T> {
  length = 0;
  #first: T | undefined = undefined;
  /** The others; there is no array until there is a second item. */
  #items: (T | undefined)[] = NONE;
  #head = 0;

  push(item: T): void {
    if (this.length++ === 0) this.#first = item;
    else this.#append(item);
  }

  /** Pushes the items from `start` on, of which there must be one. */
  pushAll(items: readonly T[], start: number): void {
    let next = start;
    if (this.length === 0) this.push(items[next++]);
    const others = this.length - 1;
    const count = items.length - next;
    this.#growTo(others + count);
    const ring = this.#items;
    const mask = ring.length - 1;
    for (let to = this.#head + others; next < items.length; next++, to++) ring[to & mask] = items[next];
    this.length += count;
  }

  /** Takes the first item; the ring must not be empty. */
  shift(): T {
    const item = this.#first as T;
    if (--this.length === 0) this.#first = undefined;
    else this.#advance();
    return item;
  }

  /** Takes the first `count` items, of those that there are, to the end of `target`. */
  shiftInto(target: T[], count: number): void {
    target.push(this.#first as T);
    const items = this.#items;
    const mask = items.length - 1;
    let head = this.#head;
    for (let i = 1; i < count; i++) {
      target.push(items[head] as T);
      items[head] = undefined;
      head = (head + 1) & mask;
    }
    this.#head = head;
    this.length -= count - 1;
    this.shift(); // the first one, which was given, makes place for the next
  }

  /** The first item; the ring must not be empty. */
  peek(): T {
    return this.#first as T;
  }

  clear(): void {
    this.length = 0;
    this.#first = undefined;
    this.#head = 0;
    this.#items = NONE;
  }

  #append(item: T): void {
    const others = this.length - 2;
    if (others === this.#items.length) this.#growTo(others + 1);
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

  /** Makes room for so many others. */
  #growTo(others: number): void {
    const { length } = this.#items;
    if (others <= length) return;
    let grownLength = Math.max(SMALLEST, length);
    while (grownLength < others) grownLength *= 2;
    const grown = new Array<T | undefined>(grownLength);
    for (let i = 0; i < length; i++) grown[i] = this.#items[(this.#head + i) & (length - 1)];
    this.#items = grown;
    this.#head = 0;
  }
}
