/**
 * Real programs, served over 100 connections: with native streams, with ours installed (`./install`), and written with
 * `node:stream` on Node. A page that React renders (26 paragraphs, one Suspense boundary) through three transforms; 200
 * tokens of 6 bytes as server-sent events; an upload of 256 KiB, teed to a digest and a file; a proxy, 64 KiB through a
 * transform; and 500 rows of a cursor as lines of JSON. Servers are `Bun.serve`, `Deno.serve`, and on Node Hono's.
 *
 *   npm run bench -- apps [--quick] [--filter REGEX] [--rounds 5] [--profile]
 *
 * Each server is a process on the runtime measured, the client one on Node; servers take turns, in changing order, and
 * each counts with its fastest round. CPU is the server's own, the middle of all rounds: the figure with the least
 * noise. `--quick` takes fewer rounds: for a look, not for the record. With `MILLRACE_FORMER=FOLDER` the streams of
 * another checkout, installed as ours are, take turns with them. Only full runs without it are written to results/.
 * `--profile` prints, by the CPU profiler, how much CPU time each part of a program takes a request, which functions
 * take it, and how much of the time of native streams was won: the functions of streams are the most that streams can
 * save, apart from the garbage that they leave, which the profiler assigns to the runtime. It writes nothing. (Bun's
 * own streams are not seen by its profiler: they count to their callers.)
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { Client, Contestant, type Round } from "./apps/contestant.ts";
import type { Parts } from "./apps/questions.ts";
import type { Program } from "./apps/programs/program.ts";
import { waysOf } from "./apps/ways.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";

process.env.NODE_ENV = "production"; // set for React in the servers, before anything loads it
const { programs } = await import("./apps/programs/mod.ts");

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    filter: { type: "string", default: "" },
    rounds: { type: "string" },
    profile: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 3 : 5));
const MILLISECONDS = 600;
/** The warm-up in milliseconds: Bun recompiles code during the first 14,000 requests or so. */
const WARM_UP = 4000;
const wanted = new RegExp(values.filter, "i");

const client = new Client();
const origin = await client.ready();

async function started(program: Program): Promise<Contestant[]> {
  const contestants = waysOf(program).map((way) => new Contestant(way, program.title, client, origin));
  for (const contestant of contestants) await contestant.begin(WARM_UP);
  return contestants;
}

async function contest(program: Program): Promise<Contestant[]> {
  const contestants = await started(program);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      await contestants[(turn + round) % contestants.length].play(MILLISECONDS);
    }
  }
  await Promise.all(contestants.map((contestant) => contestant.end()));
  return contestants;
}

const head = ["program, streams", "requests/s", "to native", "p50", "p99", "CPU a request", "native's to it"];

function row({ title }: Program, { way, best, failure }: Contestant, native: Round | undefined): string[] {
  const name = `${title}, ${way}`;
  if (!best) return [name, `fails: ${failure}`, "-", "-", "-", "-", "-"];
  return [
    name,
    Math.round(best.perSecond).toLocaleString("en"),
    native ? (best.perSecond / native.perSecond).toFixed(2) : "-",
    `${best.p50.toFixed(1)} ms`,
    `${best.p99.toFixed(1)} ms`,
    `${Math.round(best.cpu)} µs`,
    native ? (native.cpu / best.cpu).toFixed(2) : "-",
  ];
}

const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;

async function profile(program: Program): Promise<void> {
  const profiles: (readonly [string, Parts])[] = [];
  for (const contestant of await started(program)) {
    const measured = await contestant.profile(4 * MILLISECONDS);
    if (measured) profiles.push([`${program.title}, ${contestant.way}`, measured]);
    else console.log(`${program.title}, ${contestant.way} fails: ${contestant.failure}`);
    await contestant.end();
  }
  const native = profiles[0][1].times;
  const parts = Object.keys(native) as (keyof Parts["times"])[];
  const rows = profiles.map(([name, { times }]) => {
    const won = sum(native) - sum(times);
    const share = times === native || native.streams === 0 ? "-" : percent(won / native.streams);
    return [name, ...parts.map((part) => `${Math.round(times[part])} µs`), `${Math.round(sum(times))} µs`, share];
  });
  console.log(`\n${table(["program, streams", ...parts, "all", "won of native's streams"], rows)}`);
  for (const [name, { functions }] of profiles) {
    console.log(
      `\n${name}:\n${functions.map(([each, share]) => `  ${percent(share).padStart(6)} ${each}`).join("\n")}`,
    );
  }
}

function sum(times: Parts["times"]): number {
  return Object.values(times).reduce((sum, time) => sum + time, 0);
}

const chosen = programs.filter(({ title }) => wanted.test(title));
if (chosen.length === 0) {
  console.error(`no program matches "${values.filter}": they are ${programs.map(({ title }) => title).join("; ")}`);
  process.exit(2);
}
const rows: string[][] = [];
let isWhole = chosen.length === programs.length && !values.quick && !values.rounds && !process.env.MILLRACE_FORMER;
for (const program of chosen) {
  if (values.profile) {
    await profile(program);
    continue;
  }
  const contestants = await contest(program);
  const [native] = contestants;
  rows.push(...contestants.map((each) => row(program, each, native.best)));
  if (contestants.every(({ failure }) => failure === undefined)) continue;
  process.exitCode = 1;
  isWhole = false;
}
await client.end();
const title = `apps: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. 100 connections, fastest of ${rounds} rounds of ${MILLISECONDS / 1000} s.\n\n${
  table(head, rows)
}`;
if (values.profile) process.exit();
if (isWhole) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
