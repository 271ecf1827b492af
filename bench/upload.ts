/**
 * Uploads sent all at once, and stored in files: ours, each runtime's usual ways, and bodies that are buffered. 200 of
 * 15 MB, 1,000 of 1 MB, 4 of 2 GB; and what memory grows by from 50 uploads to 400.
 *
 *   npm run bench -- upload [--quick] [--filter REGEX] [--peers "ours, saveBody+pipeline"] [--rounds 3] [--folder DIR]
 *
 * Each server is a process on the runtime measured, a new one for each round; one sender on Node for all, with a plain
 * socket for each upload. On Node, "fetch" is by Hono's adapter. All files are compared by SHA-256, and removed, after
 * each round. Servers take turns, in changing order, and what was written before is on the disk when one begins.
 * Ratios are to the best figure that any usual way has which does not buffer. Memory is the kernel's high-water mark of
 * the process, CPU its own; both are much less noisy than time, which depends on the disk. Files are below the system's
 * folder for temporary files, or in DIR. `--peers` takes those whose names begin so. `--quick` takes one round: for a
 * look, not for the record. Only full runs are written to results/; they take a quarter of an hour a runtime. Linux only.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { Contestant, namesHere, startSender } from "./upload/contestant.ts";
import { growthHead, growthRow, head, row, type Usual, usualOf } from "./upload/rows.ts";
import { growth, type Scenario, scenarios } from "./upload/scenarios.ts";

const place = join(tmpdir(), "millrace-bench");
const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    filter: { type: "string", default: "" },
    peers: { type: "string" },
    rounds: { type: "string" },
    folder: { type: "string", default: place },
  },
});
const wanted = new RegExp(values.filter, "i");
const beginnings = values.peers?.split("+") ?? [""];
const names = (await namesHere()).filter((name) => beginnings.some((beginning) => name.startsWith(beginning)));
const sender = startSender();
/** Bytes that buffered bodies may have; while they are put together they take twice as much. */
const MOST_BUFFERED = 3_000_000_000;

/** Returns the contestants that can take part; buffering ones are left out where uploads exceed the memory. */
function contestantsIn({ uploads, bytes }: Scenario): Contestant[] {
  const all = names.map((name) => new Contestant(name, sender));
  return all.filter(({ isBuffered }) => !isBuffered || uploads * bytes <= MOST_BUFFERED);
}

async function contest(scenario: Scenario, contestants = contestantsIn(scenario)): Promise<Contestant[]> {
  const rounds = Number(values.rounds ?? (values.quick ? 1 : scenario.rounds));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      await contestants[(turn + round) % contestants.length].play(scenario, values.folder);
    }
  }
  return contestants;
}

async function compare(scenario: Scenario): Promise<{ part: string; contestants: Contestant[] }> {
  const contestants = await contest(scenario);
  const usual: Usual = usualOf(contestants);
  const left = contestants.length < names.length
    ? "\n\nBuffered bodies are left out: they take more memory than there is."
    : "";
  const rows = table(head, contestants.map((each) => row(each, usual)));
  return { part: `${scenario.title}:\n\n${rows}${left}`, contestants };
}

async function compareGrowth(): Promise<{ part: string; contestants: Contestant[] }> {
  const [few, many] = growth;
  const oursIn = (scenario: Scenario): Contestant[] => contestantsIn(scenario).filter(({ isOurs }) => isOurs);
  const [before, after] = [await contest(few, oursIn(few)), await contest(many, oursIn(many))];
  const rows = after.map((contestant) => {
    const start = before.find(({ name }) => name === contestant.name)!;
    return growthRow(start, contestant, many.uploads - few.uploads);
  });
  const part = `Peak memory, ${few.title} and ${many.title}:\n\n${table(growthHead, rows)}`;
  return { part, contestants: [...before, ...after] };
}

const contests = [
  ...scenarios.map((scenario) => ({ title: scenario.title, play: () => compare(scenario) })),
  { title: "growth", play: compareGrowth },
];
const chosen = contests.filter(({ title }) => wanted.test(title));
if (chosen.length === 0 || names.length === 0) {
  console.error(
    `nothing to run: there are ${contests.map(({ title }) => title).join("; ")}; and ${(await namesHere()).join("; ")}`,
  );
  process.exit(2);
}
const parts: string[] = [];
let isWhole = chosen.length === contests.length && !values.peers && !values.quick && !values.rounds &&
  values.folder === place;
for (const { play } of chosen) {
  const { part, contestants } = await play();
  parts.push(part);
  console.error(`\n${part}`); // the run takes long: finished parts must not be lost
  if (contestants.every(({ isOurs, failure }) => !isOurs || failure === undefined)) continue;
  process.exitCode = 1;
  isWhole = false;
}
await sender.end();
const title = `upload: ${runtimeName().split(" ")[0]}`;
const body = `${circumstances()}. Middle ones of all rounds; peaks are the highest.\n\n${parts.join("\n\n")}`;
if (isWhole) writeSection(title, body);
else console.log(`\n${title}\n\n${body}\n`);
