import { TimeLimit } from "../timers/mod.ts";

/** The turns of this thread by key, in the order in which they were asked for: the first one has begun. */
const queues = new Map<string, Turn[]>();

/** A turn among the callers of this thread that use one thing, such as a folder, one after another. */
export class Turn {
  readonly #key: string;
  readonly #begun = Promise.withResolvers<void>();

  private constructor(key: string) {
    this.#key = key;
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [this]);
    else queue.push(this);
  }

  /** Takes a turn, unless another has it. */
  static takeNow(key: string): Turn | undefined {
    return queues.has(key) ? undefined : new Turn(key);
  }

  /**
   * Takes a turn behind all that were asked for before.
   *
   * @param options.waitFor How long the turns before it may take, in ms. Default: as long as they take.
   * @returns undefined if they took longer.
   * @throws {unknown} the reason of the signal once it is aborted.
   */
  static async take(
    key: string,
    { waitFor = Infinity, signal }: { readonly waitFor?: number; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Turn | undefined> {
    signal?.throwIfAborted();
    const turn = new Turn(key);
    if (queues.get(key)![0] === turn) return turn;
    const limit = new TimeLimit(waitFor, signal);
    const hasBegun = await limit.within(turn.#begun.promise).then(() => true, () => false);
    limit.stop();
    if (hasBegun && !signal?.aborted) return turn;
    turn.end();
    signal?.throwIfAborted();
    return undefined;
  }

  /** Whether another waits for the end of the turn. */
  get isWanted(): boolean {
    return queues.get(this.#key)?.at(-1) !== this;
  }

  /** Ends the turn; the next one begins. */
  end(): void {
    const queue = queues.get(this.#key);
    const index = queue?.indexOf(this) ?? -1;
    if (index === -1) return;
    queue!.splice(index, 1);
    if (queue!.length === 0) queues.delete(this.#key);
    else if (index === 0) queue![0].#begun.resolve();
  }
}
