/**
 * HTTP clients: ours beside `node:http2` and `node:http` as they are, undici's `request` and `fetch`, and the runtime's
 * own `fetch`. Requests a second over h2, h2c, h1 over TLS and h1, with 100 at a time and bodies of 1 KB that are read
 * as text; cold bursts to an origin whose handler takes 300 ms; and bodies of 200 MB, down and up.
 *
 *   npm run bench -- http [--quick] [--filter REGEX] [--peers "ours+node:http2"] [--rounds 3]
 *
 * Each client is a process on the runtime measured, and keeps its connections from round to round, except for bursts.
 * Clients take turns, in changing order. The origin is one process on Node for all, which speaks the protocols by
 * itself and looks at nothing, so that it takes a fraction of what any client does; its share of a core is printed.
 * Both share the machine: CPU time, of the client alone, is the figure with the least noise. `--quick` takes one round:
 * for a look, not for the record. Only full runs are written to results/; they take about two minutes a runtime.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { type Contestant, Origins } from "./http/contestant.ts";
import { burst, rate, type Terms, transfer } from "./http/contests.ts";
import { burstHead, burstRows, originShare, rateHead, rateRows, transferHead, transferRows } from "./http/rows.ts";
import { bursts, rates, transfers } from "./http/scenarios.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    filter: { type: "string", default: "" },
    peers: { type: "string" },
    rounds: { type: "string" },
  },
});
const wanted = new RegExp(values.filter, "i");
const peers = values.peers?.split("+");
const SECONDS = 0.7;

const origins = new Origins();

function termsWith(rounds: number): Terms {
  return {
    origins,
    rounds: Number(values.rounds ?? (values.quick ? 1 : rounds)),
    seconds: SECONDS,
    isWanted: (name) => peers?.includes(name) ?? true,
  };
}

/** A scenario's section of the page, and its contestants. */
interface Played {
  readonly part: string;
  readonly contestants: readonly Contestant[];
}

async function played(
  { title, play, rows }: { title: string; play: () => Promise<Contestant[]>; rows: (all: Contestant[]) => string },
): Promise<Played> {
  const contestants = await play();
  return {
    part: `${title}; the origin took at most ${originShare(contestants)}:\n\n${rows(contestants)}`,
    contestants,
  };
}

const contests = [
  ...bursts.map((each) => ({
    title: each.title,
    play: () => burst(each, termsWith(2)),
    rows: (all: Contestant[]) => table(burstHead, burstRows(all)),
  })),
  ...rates.map((each) => ({
    title: each.title,
    play: () => rate(each, termsWith(3)),
    rows: (all: Contestant[]) => table(rateHead, rateRows(all)),
  })),
  ...transfers.map((each) => ({
    title: each.title,
    play: () => transfer(each, termsWith(2)),
    rows: (all: Contestant[]) => table(transferHead, transferRows(all, each.bytes)),
  })),
];
const chosen = contests.filter(({ title }) => wanted.test(title));
if (chosen.length === 0) {
  console.error(`no scenario matches "${values.filter}": they are ${contests.map(({ title }) => title).join("; ")}`);
  process.exit(2);
}
const parts: string[] = [];
let isWhole = chosen.length === contests.length && !values.peers && !values.quick && !values.rounds;
for (const contest of chosen) {
  const { part, contestants } = await played(contest);
  parts.push(part);
  console.error(`\n${part}`);
  if (contestants.every(({ name, failure }) => name !== "ours" || failure === undefined)) continue;
  process.exitCode = 1;
  isWhole = false;
}
await origins.end();
const title = `http: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Fastest and middle one of all rounds, least CPU time.\n\n${parts.join("\n\n")}`;
if (isWhole) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
