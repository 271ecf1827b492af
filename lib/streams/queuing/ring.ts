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
  #first: T | undefined;
  /** The others; there is no array until there is a second item. */
  #items: (T | undefined)[] = NONE;
  #head = 0;

  push(item: T): void {
    if (this.length > 0) this.#append(item);
    else this.#first = item;
    this.length++;
  }

  /** Takes the first item; the ring must not be empty. */
  shift(): T {
    const item = this.#first as T;
    if (--this.length === 0) this.#first = undefined;
    else this.#advance();
    return item;
  }

  /** The first item; the ring must not be empty. */
  peek(): T {
    return this.#first as T;
  }

  /** The item at an index, which the ring must have. */
  at(index: number): T {
    if (index === 0) return this.#first as T;
    return this.#items[(this.#head + index - 1) & (this.#items.length - 1)] as T;
  }

  clear(): void {
    this.length = 0;
    this.#first = undefined;
    this.#head = 0;
    this.#items = NONE;
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
