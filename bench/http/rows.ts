import type { Contestant, Round } from "./contestant.ts";
import type { BurstRound } from "./contests.ts";
import { HANDLER } from "./scenarios.ts";

type Figure = (round: Round) => number;

const perSecond: Figure = ({ requests, seconds }) => requests / seconds;
const cpuEach: Figure = ({ cpu, requests }) => cpu / requests * 1e6;
const sockets: Figure = ({ seen }) => seen.sockets;

function ascending({ rounds }: Contestant, figure: Figure): number[] {
  return rounds.map(figure).sort((a, b) => a - b);
}

function least(contestant: Contestant, figure: Figure): number {
  return ascending(contestant, figure)[0];
}

function most(contestant: Contestant, figure: Figure): number {
  return ascending(contestant, figure).at(-1)!;
}

function median(contestant: Contestant, figure: Figure): number {
  const all = ascending(contestant, figure);
  return all[all.length >> 1];
}

function hasFigures({ failure, rounds }: Contestant): boolean {
  return failure === undefined && rounds.length > 0;
}

/** Returns the ratio of this package's figure to another contestant's. */
function oursTo(all: readonly Contestant[], other: Contestant, figure: (contestant: Contestant) => number): string {
  const ours = all.find(({ name }) => name === "ours");
  if (!ours || ours === other || !hasFigures(ours)) return "-";
  return (figure(ours) / figure(other)).toFixed(2);
}

function rowsOf(
  all: readonly Contestant[],
  head: readonly string[],
  row: (contestant: Contestant) => readonly string[],
): string[][] {
  return all.map((contestant) => {
    if (hasFigures(contestant)) return [contestant.name, ...row(contestant)];
    return [contestant.name, `fails: ${contestant.failure ?? "it never ran"}`, ...head.slice(2).map(() => "-")];
  });
}

/** The head of a table of {@linkcode rateRows}. */
export const rateHead: readonly string[] = [
  ...["", "req/s", "ours / it", "median", "ours / it", "CPU a request", "ours / it", "peak MiB", "sockets"],
];

/**
 * Returns the fastest and the middle round, the least CPU time, the highest peak, and all connections that were made.
 */
export function rateRows(all: readonly Contestant[]): string[][] {
  const best = (contestant: Contestant): number => most(contestant, perSecond);
  const middle = (contestant: Contestant): number => median(contestant, perSecond);
  const cpu = (contestant: Contestant): number => least(contestant, cpuEach);
  return rowsOf(all, rateHead, (contestant) => [
    Math.round(best(contestant)).toLocaleString("en"),
    oursTo(all, contestant, best),
    Math.round(middle(contestant)).toLocaleString("en"),
    oursTo(all, contestant, middle),
    `${cpu(contestant).toFixed(1)} µs`,
    oursTo(all, contestant, cpu),
    most(contestant, ({ peak }) => peak).toFixed(0),
    String(contestant.rounds.map(sockets).reduce((sum, each) => sum + each)),
  ]);
}

/**
 * Returns the highest share of a core that the origin took in a round; above about 0.8 the origin is the bottleneck.
 */
export function originShare(all: readonly Contestant[]): string {
  const shares = all.flatMap(({ rounds }) => rounds.map(({ originCpu, seconds }) => originCpu / seconds));
  return `${Math.round(Math.max(0, ...shares) * 100)}% of a core`;
}

/** The head of a table of {@linkcode burstRows}. */
export const burstHead: readonly string[] = [
  ...["", "sockets", "streams each", "refused", "one alone", "all", "all / one", "rounds"],
];

/**
 * Returns the rows of bursts: the fastest one, its time in round trips of the handler, and the highest counts of all
 * rounds.
 */
export function burstRows(all: readonly Contestant[]): string[][] {
  return rowsOf(all, burstHead, (contestant) => {
    const seconds = least(contestant, (round) => round.seconds);
    const alone = least(contestant, (round) => (round as BurstRound).alone);
    return [
      String(most(contestant, sockets)),
      String(most(contestant, ({ seen }) => seen.peakStreams)),
      String(most(contestant, ({ seen }) => seen.refused)),
      `${Math.round(alone * 1000)} ms`,
      `${Math.round(seconds * 1000)} ms`,
      (seconds / alone).toFixed(2),
      (seconds * 1000 / HANDLER).toFixed(2),
    ];
  });
}

/** The head of a table of {@linkcode transferRows}. */
export const transferHead: readonly string[] = [
  ...["", "MB/s", "ours / it", "CPU s a GB", "ours / it", "MiB before", "peak MiB", "grown"],
];

/**
 * Returns the fastest round, the least CPU time; and the memory of the last round, when the rounds before have warmed
 * it up.
 */
export function transferRows(all: readonly Contestant[], bytes: number): string[][] {
  const speed = (contestant: Contestant): number => bytes / 1e6 / least(contestant, ({ seconds }) => seconds);
  const cpu = (contestant: Contestant): number => least(contestant, ({ cpu }) => cpu) / bytes * 1e9;
  return rowsOf(all, transferHead, (contestant) => {
    const { memory, peak } = contestant.rounds.at(-1)!;
    return [
      Math.round(speed(contestant)).toLocaleString("en"),
      oursTo(all, contestant, speed),
      cpu(contestant).toFixed(2),
      oursTo(all, contestant, cpu),
      memory.toFixed(0),
      peak.toFixed(0),
      (peak - memory).toFixed(0),
    ];
  });
}
