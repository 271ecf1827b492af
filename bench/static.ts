/**
 * Servers of static files: ours, by its entries for `node:http` and for `fetch`, vinext's cache, sirv, send, Hono, the
 * standard library of Deno; and a bare server, which sends the same bytes with three fields and looks at nothing but
 * the path, or at Accept-Encoding, too. 5 bundles of 50 KB, a site of 1,000 files, and revalidations; all precompressed.
 * A bare 304 is sent if there is an If-None-Match, whatever is in it; with the fields that the standard demands, or none.
 *
 *   npm run bench -- static [--quick] [--filter REGEX] [--peers bare+ours] [--rounds 7]
 *
 * Each server is a process on the runtime measured; wrk asks for all paths in turn, over 10 connections (where there is
 * no wrk, Node does). All answers are checked before: status, coding, decoded body. Servers take turns, in changing
 * order. They share the machine with wrk: CPU time, of the server alone, is the figure with the least noise.
 * `--quick` takes fewer rounds: for a look, not for the record. Only full runs are written to results/. Of Deno's
 * standard library, a checkout in DENO_STD_ROOT is measured; without one it is left out. vinext is installed below
 * bench/.corpus when it is first measured.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { Contestant, startVisitors } from "./static/contestant.ts";
import { type Scenario, scenarios } from "./static/scenarios.ts";
import { installVinext } from "./static/vinext.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    filter: { type: "string", default: "" },
    peers: { type: "string" },
    rounds: { type: "string" },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 3 : 7));
const SECONDS = 1;
const wanted = new RegExp(values.filter, "i");

function standardPeers(): string[] {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  const bare = ["bare", "bare, negotiating", "bare 304", "bare 304, no fields"];
  if (bun) return [...bare, "ours", "static routes", "hono serveStatic"];
  const std = process.env.DENO_STD_ROOT ? ["std serveDir"] : [];
  if (deno) return [...bare, "ours", ...std, "hono serveStatic"];
  const others = ["vinext 1.4.0", "sirv", "send", "hono serveStatic"];
  return [...bare, "ours", "ours, fetch, srvx", "ours, fetch, hono", ...others];
}

const peers = values.peers?.split("+") ?? standardPeers();
const visitors = startVisitors();

/** Returns the contestants fit for a scenario: bare servers send either bodies or 304s. */
function peersIn({ revalidates }: Scenario): string[] {
  const unfit = revalidates ? /^bare(?! 304)/ : /^bare 304/;
  return peers.filter((name) => !unfit.test(name));
}

async function contest(scenario: Scenario): Promise<Contestant[]> {
  const site = await scenario.site();
  const contestants = peersIn(scenario).map((name) => new Contestant(name, scenario, site, visitors));
  for (const contestant of contestants) await contestant.begin(scenario);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      await contestants[(turn + round) % contestants.length].play(SECONDS);
    }
  }
  await Promise.all(contestants.map((contestant) => contestant.end()));
  return contestants;
}

const head = ["", "req/s", "of bare", "median", "of bare", "CPU a request", "of bare's"];

/** Returns a contestant's row, with ratios to the bare server. */
function row({ name, failure, perSecond, cpu }: Contestant, bare: Contestant): string[] {
  if (!perSecond || !cpu) return [name, `none: ${failure}`, "-", "-", "-", "-", "-"];
  const of = (own: number, other: number | undefined): string => other === undefined ? "-" : (own / other).toFixed(2);
  return [
    name,
    Math.round(perSecond.best).toLocaleString("en"),
    of(perSecond.best, bare.perSecond?.best),
    Math.round(perSecond.median).toLocaleString("en"),
    of(perSecond.median, bare.perSecond?.median),
    `${cpu.toFixed(1)} µs`,
    of(cpu, bare.cpu),
  ];
}

const chosen = scenarios.filter(({ title }) => wanted.test(title));
if (chosen.length === 0) {
  console.error(`no scenario matches "${values.filter}": they are ${scenarios.map(({ title }) => title).join("; ")}`);
  process.exit(2);
}
if (peers.some((name) => name.startsWith("vinext"))) await installVinext();
const parts: string[] = [];
let isWhole = chosen.length === scenarios.length && !values.peers && !values.quick && !values.rounds;
for (const scenario of chosen) {
  const contestants = await contest(scenario);
  parts.push(`${scenario.title}:\n\n${table(head, contestants.map((each) => row(each, contestants[0])))}`);
  if (contestants.every(({ name, failure }) => !/^(bare|ours)/.test(name) || failure === undefined)) continue;
  process.exitCode = 1;
  isWhole = false;
}
await visitors.end();
if (process.versions.deno && !peers.includes("std serveDir")) {
  parts.push("`serveDir()` was left out: DENO_STD_ROOT names no checkout of Deno's standard library.");
}
const title = `static: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Fastest and middle one of ${rounds} rounds of ${SECONDS} s, least CPU time.\n\n${
  parts.join("\n\n")
}`;
if (isWhole) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
