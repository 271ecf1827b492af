const SMALLEST = 8;
/** Above this, an emptied ring lets go of its array: one burst should not hold memory for the life of a stream. */
const LARGEST_KEPT = 1024;
const NONE: never[] = [];

/** A first-in, first-out queue in a ring of a power-of-two length; it has no array until something is pushed. */
export class Ring<T> {
  length = 0;
  #items: (T | undefined)[] = NONE;
  #head = 0;

  push(item: T): void {
    if (this.length === this.#items.length) this.#grow();
    this.#items[(this.#head + this.length++) & (this.#items.length - 1)] = item;
  }

  /** Takes the first item; the ring must not be empty. */
  shift(): T {
    const items = this.#items;
    const head = this.#head;
    const item = items[head] as T;
    items[head] = undefined;
    this.#head = (head + 1) & (items.length - 1);
    if (--this.length === 0) {
      this.#head = 0; // shallow queues stay on the same few slots
      if (items.length > LARGEST_KEPT) this.#items = NONE;
    }
    return item;
  }

  /** The first item; the ring must not be empty. */
  peek(): T {
    return this.#items[this.#head] as T;
  }

  clear(): void {
    this.length = 0;
    this.#head = 0;
    this.#items = NONE;
  }

  #grow(): void {
    const { length } = this;
    const grown = new Array<T | undefined>(length === 0 ? SMALLEST : length * 2);
    for (let i = 0; i < length; i++) grown[i] = this.#items[(this.#head + i) & (length - 1)];
    this.#items = grown;
    this.#head = 0;
  }
}
