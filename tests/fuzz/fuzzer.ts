import { Random } from "../streams/differential/random.ts";
import { bytesOf, foundInputs, knownInputs, saveInput } from "./corpus.ts";
import type { Coverage } from "./coverage.ts";
import { mutate, type Others } from "./mutate.ts";
import type { StateFile } from "./state_file.ts";
import { ending, type Target } from "./target.ts";

/** An input that violates an invariant. */
export interface Failure {
  readonly message: string;
  readonly path: string;
}

/** The counts and failures of a run. */
export interface Tally {
  tried: number;
  endings: number;
  /** The number of new endings that are saved. */
  saved: number;
  /** The number of inputs that reached new code. */
  covered: number;
  readonly failures: Failure[];
}

/** Failures that are looked at; a target with more is broken altogether. */
const MOST_FAILURES = 5;
const MOST_SAVED = 400;
/** Inputs between two looks at the coverage, which take some ms each. */
const BATCH = 64;
/** The limit of a run's memory in bytes: inputs have some kB, and must leave nothing behind. */
const MOST_MEMORY = 2 ** 31;
/** The time limit for finding the smallest input that fails, in ms. */
const SHRINKING = 5000;

/** Returns the error of an input; undefined if it passes. Unhandled rejections count as well. */
export async function faultOf(target: Target, input: Uint8Array): Promise<{ error?: unknown; ending: string }> {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): unknown => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    const result = await target.check(Uint8Array.from(input));
    if (unhandled.length > 0) return { error: unhandled[0], ending: "unhandled rejection" };
    return { ending: result };
  } catch (error) {
    return { error: error ?? new Error("undefined was thrown"), ending: ending(error) };
  } finally {
    process.off("unhandledRejection", note);
  }
}

/** Tries inputs of one target for some time. */
export class Fuzzer {
  readonly #target: Target;
  readonly #state: StateFile;
  readonly #random: Random;
  readonly #others: { readonly pool: Uint8Array[]; readonly tokens: readonly Uint8Array[] } & Others;
  readonly #endings = new Set<string>();
  readonly #broken = new Set<string>();
  readonly #coverage: Coverage | undefined;
  readonly tally: Tally = { tried: 0, endings: 0, saved: 0, covered: 0, failures: [] };

  /** @param coverage Guides the choice of inputs to mutate, where the runtime reports it. */
  constructor(target: Target, seed: number, state: StateFile, coverage: Coverage | undefined) {
    this.#coverage = coverage;
    this.#target = target;
    this.#state = state;
    this.#random = new Random(seed);
    // A character is a byte with its code; a character above 255 is UTF-8.
    const tokenBytes = (token: string): Uint8Array =>
      /^[\0-\xff]*$/.test(token)
        ? Uint8Array.from(token, (character) => character.charCodeAt(0))
        : new TextEncoder().encode(token);
    this.#others = { pool: [], tokens: (target.tokens ?? []).map(tokenBytes) };
  }

  async run(milliseconds: number): Promise<Tally> {
    const { name, maxSize } = this.#target;
    const saved = [...knownInputs(name).map(bytesOf), ...foundInputs(name).map(({ input }) => input)];
    for (const input of [...await this.#target.seeds(), ...saved]) await this.#try(input, "known");
    this.#coverage?.grew(true);
    const end = performance.now() + milliseconds;
    while (performance.now() < end && this.tally.failures.length < MOST_FAILURES) {
      const batch = Array.from(
        { length: BATCH },
        () => mutate(this.#random.pick(this.#others.pool), this.#random, this.#others, maxSize),
      );
      for (const input of batch) await this.#try(input, "new");
      // Timers and unhandled rejections have their turn.
      await new Promise((resolve) => setTimeout(resolve));
      const { rss } = process.memoryUsage();
      if (rss > MOST_MEMORY) {
        await this.#fail(
          batch.at(-1)!,
          "memory",
          new Error(`the process has ${Math.round(rss / 2 ** 20)} MiB after this input and others`),
        );
        break;
      }
      if (this.#coverage?.grew(false)) await this.#keepCovering(batch, this.#coverage);
    }
    return this.tally;
  }

  /** Runs each input of a batch again, alone, and keeps those that reach new code. */
  async #keepCovering(batch: readonly Uint8Array[], coverage: Coverage): Promise<void> {
    for (const input of batch) {
      await faultOf(this.#target, input);
      if (!coverage.grew(true)) continue;
      this.tally.covered++;
      this.#keep(input);
    }
  }

  #keep(input: Uint8Array): void {
    this.#others.pool.push(input);
    if (this.tally.saved++ < MOST_SAVED) saveInput(this.#target.name, "", input);
  }

  async #try(input: Uint8Array, origin: "known" | "new"): Promise<void> {
    this.tally.tried++;
    this.#state.note(input);
    const { error, ending } = await faultOf(this.#target, input);
    if (error !== undefined) return this.#fail(input, ending, error);
    if (origin === "known") this.#others.pool.push(input);
    if (this.#endings.has(ending)) return;
    this.#endings.add(ending);
    this.tally.endings++;
    if (origin === "known") return;
    this.#keep(input);
  }

  async #fail(input: Uint8Array, ending: string, error: unknown): Promise<void> {
    if (this.#broken.has(ending)) return;
    this.#broken.add(ending);
    const smallest = await this.#shrunk(input, ending);
    const path = saveInput(this.#target.name, "failure-", smallest);
    const message = String((error as Error)?.stack ?? error).split("\n").slice(0, 12).join("\n");
    this.tally.failures.push({ message, path });
    if (this.#others.pool.length === 0) this.#others.pool.push(new Uint8Array(0));
  }

  /** Returns a smaller input that ends alike. */
  async #shrunk(input: Uint8Array, wanted: string): Promise<Uint8Array> {
    const end = performance.now() + SHRINKING;
    let best = input;
    for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = 0; at < best.length && performance.now() < end;) {
        const shorter = Uint8Array.from([...best.subarray(0, at), ...best.subarray(at + size)]);
        const { error, ending } = await faultOf(this.#target, shorter);
        if (error !== undefined && ending === wanted) best = shorter;
        else at += size;
      }
    }
    return best;
  }
}
