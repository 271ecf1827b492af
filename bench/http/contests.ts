import { Contestant, type Origins, type Round } from "./contestant.ts";
import type { BurstScenario, RateScenario, Scenario, TransferScenario } from "./scenarios.ts";

/** The terms of a run. */
export interface Terms {
  readonly origins: Origins;
  readonly rounds: number;
  /** The duration of a round of throughput. */
  readonly seconds: number;
  /** Whether the contestant of that name takes part. */
  isWanted(name: string): boolean;
}

/** Runs each contestant for `rounds` rounds, in changing order. */
async function takeTurns(
  scenario: Scenario,
  { origins, rounds, isWanted }: Terms,
  play: (contestant: Contestant) => Promise<Round | undefined>,
): Promise<Contestant[]> {
  const contestants = scenario.names.filter(isWanted).map((name) => new Contestant(name, scenario, origins));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const contestant = contestants[(turn + round) % contestants.length];
      const played = await play(contestant);
      if (played) contestant.rounds.push(played);
    }
  }
  await Promise.all(contestants.map((contestant) => contestant.end()));
  return contestants;
}

/** Connections are kept from round to round. */
export async function rate(scenario: RateScenario, terms: Terms): Promise<Contestant[]> {
  const port = await terms.origins.open(scenario.origin);
  const question = { rate: { inFlight: scenario.inFlight, seconds: terms.seconds } };
  return await takeTurns(scenario, terms, (contestant) => contestant.play(port, () => question));
}

/** A burst, and how long it takes one request alone, by a client that is as new. */
export interface BurstRound extends Round {
  readonly alone: number;
}

/** Runs bursts and single requests with a fresh origin each: the runtime's caches for an origin must be cold. */
export async function burst(scenario: BurstScenario, terms: Terms): Promise<Contestant[]> {
  const { requests, connections } = scenario;
  const once = async (contestant: Contestant, requests: number): Promise<Round | undefined> => {
    const port = await terms.origins.open(scenario.origin);
    return await contestant.play(port, (setup) => ({ burst: { requests, setup: { ...setup, connections } } }));
  };
  return await takeTurns(scenario, terms, async (contestant): Promise<BurstRound | undefined> => {
    const alone = await once(contestant, 1);
    const all = await once(contestant, requests);
    return alone && all && { ...all, alone: alone.seconds };
  });
}

/** Transfers bodies in rounds, of which the later ones find the connection open and the code compiled. */
export async function transfer(scenario: TransferScenario, terms: Terms): Promise<Contestant[]> {
  const port = await terms.origins.open(scenario.origin);
  const { direction, bytes } = scenario;
  return await takeTurns(scenario, terms, async (contestant) => {
    const round = await contestant.play(port, () => ({ transfer: { direction, bytes } }));
    if (round && direction === "up" && round.seen.received < bytes) {
      contestant.failure = `the origin got ${round.seen.received} bytes`;
    }
    return round;
  });
}
