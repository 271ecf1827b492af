/** A first-in, first-out queue of items that come many at once: the arrays that they came in, one after the other. */
export class Runs<T> {
  #run: T[] = [];
  /** The offset in it of the first item. */
  #at = 0;
  /** The arrays behind it, from `#nextRun` on. */
  #runs: T[][] = [];
  #nextRun = 0;
  /** Whether the last array is one of ours, for items that came alone. */
  #isLastOurs = false;

  push(item: T): void {
    if (this.#isLastOurs) {
      this.#runs[this.#runs.length - 1].push(item);
    } else {
      this.#runs.push([item]);
      this.#isLastOurs = true;
    }
  }

  pushAll(items: T[], start: number): void {
    if (this.#at === this.#run.length && this.#nextRun === this.#runs.length) {
      this.#run = items;
      this.#at = start;
    } else {
      this.#runs.push(start === 0 ? items : items.slice(start));
      this.#isLastOurs = false;
    }
  }

  peek(): T {
    return this.#run[this.#at];
  }

  shift(): T {
    const item = this.#run[this.#at++];
    if (this.#at === this.#run.length) this.#advance();
    return item;
  }

  /** Takes up to `count` items that came at once. */
  shiftRun(count: number): T[] {
    const end = Math.min(this.#run.length, this.#at + count);
    const run = this.#at === 0 && end === this.#run.length ? this.#run : this.#run.slice(this.#at, end);
    this.#at = end;
    if (end === this.#run.length) this.#advance();
    return run;
  }

  #advance(): void {
    if (this.#nextRun === this.#runs.length) return;
    this.#run = this.#runs[this.#nextRun++];
    this.#at = 0;
    if (this.#nextRun < this.#runs.length) return;
    this.#runs = [];
    this.#nextRun = 0;
    this.#isLastOurs = false;
  }
}
