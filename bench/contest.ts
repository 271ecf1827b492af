/** The figures of a contestant in one round. */
export interface Round {
  readonly seconds: number;
  /** CPU time of its process, all threads together, in seconds. */
  readonly cpu: number;
  /** The peak of its process's resident memory, in MiB. */
  readonly peakMemory: number;
}

/** A contestant of a job that several do in turn. */
export class Contestant {
  readonly name: string;
  /** The reason for missing figures, if it failed. */
  failure: string | undefined;
  readonly #rounds: Round[] = [];
  readonly #play: () => Promise<Round>;

  /** `play` does the job once; it rejects if the result is wrong. */
  constructor(name: string, play: () => Promise<Round>) {
    this.name = name;
    this.#play = play;
  }

  /** Plays a round. A contestant that failed sits out. */
  async play(): Promise<void> {
    if (this.failure !== undefined) return;
    try {
      this.#rounds.push(await this.#play());
    } catch (error) {
      this.failure = String(error).split("\n")[0].replaceAll("|", "\\|");
    }
  }

  /** The fastest round's seconds, unless any round failed. */
  get best(): number | undefined {
    return this.#figure(({ seconds }) => seconds, (all) => all[0]);
  }

  /** The middle one of all rounds' seconds. */
  get median(): number | undefined {
    return this.#figure(({ seconds }) => seconds, (all) => all[all.length >> 1]);
  }

  /** The least CPU time, in seconds. */
  get cpu(): number | undefined {
    return this.#figure(({ cpu }) => cpu, (all) => all[0]);
  }

  /** The highest peak of all rounds, in MiB. */
  get peakMemory(): number | undefined {
    return this.#figure(({ peakMemory }) => peakMemory, (all) => all[all.length - 1]);
  }

  #figure(of: (round: Round) => number, choose: (ascending: number[]) => number): number | undefined {
    if (this.failure !== undefined || this.#rounds.length === 0) return undefined;
    return choose(this.#rounds.map(of).sort((a, b) => a - b));
  }
}

/** The duration in seconds above which a contestant plays one round only. */
const LONG = 60;

/** Runs each contestant for `rounds` rounds, in changing order; one that takes over a minute runs once. */
export async function takeTurns(contestants: readonly Contestant[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const contestant = contestants[(turn + round) % contestants.length];
      if (!(contestant.best! > LONG)) await contestant.play();
    }
  }
}

/** The head of a table of {@linkcode standings}. */
export const standingsHead: readonly string[] = ["", "s", "median", "ours / it", "CPU s", "peak MiB"];

/** Returns a table's row for each contestant, with this package's share of its time. */
export function standings(contestants: readonly Contestant[]): string[][] {
  const ours = contestants.find(({ name }) => name === "ours")?.best;
  return contestants.map((contestant) => {
    const { name, failure, best, median, cpu, peakMemory } = contestant;
    if (best === undefined) return [name, `fails: ${failure ?? "it never ran"}`, "-", "-", "-", "-"];
    const ratio = ours === undefined || name === "ours" ? "-" : (ours / best).toFixed(2);
    return [name, best.toFixed(2), median!.toFixed(2), ratio, cpu!.toFixed(2), String(Math.round(peakMemory!))];
  });
}
