/**
 * Gives random inputs to all code that takes bytes from untrusted peers, for a limited time.
 *
 *   npm run fuzz                                          all targets on Node, 10 minutes in all
 *   npm run fuzz -- --minutes 60 --runtime bun --runtime deno --target http1
 *   npm run fuzz -- --target http1 --input FILE           one input again, as a failure says
 */
import { readFileSync, rmSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bytesOf, found, foundInputs, knownInputs, writeKnownInputs } from "./corpus.ts";
import { faultOf, type Tally } from "./fuzzer.ts";
import { fuzz, fuzzStreams, runtimes } from "./session.ts";
import { targets } from "./targets/mod.ts";

const STREAMS = "streams";
/** The limit of inputs added by one --keep: replaying the corpus is a part of every test run. */
const MOST_KEPT = 20;
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const names = [...targets.map(({ name }) => name), STREAMS];

const usage = `npm run fuzz -- [options]

  --minutes N       how long in all, shared by targets and runtimes (default 10)
  --target NAME     only this one; may be repeated
  --runtime NAME    node (default), bun or deno; may be repeated
  --seed S          begins as a former run with this seed did (default: by the clock)
  --input FILE      tries this one input of --target, on the runtime that runs this
  --keep            moves the inputs found that end as none of the corpus does into it, if they are small

Targets:
${targets.map(({ name, what }) => `  ${name.padEnd(14)}${what}`).join("\n")}
  ${STREAMS.padEnd(14)}random programs of stream operations, against the reference implementation and native streams

On Node, inputs that reach code of lib/ that none reached before are gone on from, and kept, as those that end in a new
way are: they go to tests/fuzz/found/, which git ignores, and are tried first the next time; so do
failures, made small. Exit code: 0 nothing failed, 1 something did, 2 wrong usage.`;

function refuse(message: string): never {
  console.error(`${message}\n\n${usage}`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        minutes: { type: "string", default: "10" },
        target: { type: "string", multiple: true, default: names },
        runtime: { type: "string", multiple: true, default: ["node"] },
        seed: { type: "string", default: String(Date.now() % 1e9) },
        input: { type: "string" },
        keep: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    refuse((error as Error).message);
  }
}

/** Tries one input again. */
async function replay(name: string, path: string): Promise<boolean> {
  const target = targets.find((target) => target.name === name)!;
  const { error, ending } = await faultOf(target, Uint8Array.from(readFileSync(path)));
  if (error === undefined) console.log(`${name} is fine with it: ${ending}`);
  else console.error(error);
  return error === undefined;
}

/** Adds the inputs with a new ending to the corpus. */
async function keepNew(name: string): Promise<number> {
  const target = targets.find((target) => target.name === name)!;
  const endings = new Set<string>();
  for (const input of await target.seeds()) endings.add((await faultOf(target, input)).ending);
  const rows = knownInputs(name);
  for (const row of rows) endings.add((await faultOf(target, bytesOf(row))).ending);
  let count = 0;
  const bySize = foundInputs(name).sort((one, other) => one.input.length - other.input.length);
  let room = 4096 - rows.reduce((sum, { input }) => sum + input.length, 0);
  for (const { name: file, input } of bySize) {
    const { error, ending } = await faultOf(target, input);
    if (error !== undefined || endings.has(ending) || input.length > 400 || input.length > room) continue;
    endings.add(ending);
    room -= input.length;
    rows.push({ input: Buffer.from(input).toString("latin1"), ending, why: "the first to end so" });
    rmSync(join(found, name, file));
    if (++count >= MOST_KEPT) break;
  }
  if (count > 0) writeKnownInputs(name, rows);
  return count;
}

function report(runtime: string, name: string, { tried, endings, saved, covered, failures }: Tally): void {
  const kinds = endings > 0
    ? `, ${endings} endings, ${saved} inputs kept, ${covered} of them for code not reached before`
    : "";
  const counts = `${String(tried).padStart(9)} tried${kinds}`;
  console.log(
    `${runtime.padEnd(5)} ${name.padEnd(14)}${counts}${failures.length > 0 ? `, ${failures.length} FAILED` : ""}`,
  );
  for (const { message, path } of failures) {
    console.log(`\n${message}`);
    const again = name === STREAMS ? "" : `npm run fuzz -- --target ${name} --input ${relative(root, path)}`;
    if (again) console.log(`again: ${again}${runtime === "node" ? "" : ` (with ${runtime} in place of node)`}\n`);
  }
}

const options = readOptions();
const wrong = [
  ...options.target.filter((name) => !names.includes(name)),
  ...options.runtime.filter((name) => !(name in runtimes)),
];
const minutes = Number(options.minutes);
if (options.help) console.log(usage);
else if (wrong.length > 0) refuse(`there is no ${wrong.join(", ")}`);
else if (!(minutes > 0)) refuse(`--minutes ${options.minutes} is no time`);
else if (options.input !== undefined) {
  if (options.target.length !== 1 || options.target[0] === STREAMS) {
    refuse("--input needs one --target that takes bytes");
  }
  process.exitCode = await replay(options.target[0], options.input) ? 0 : 1;
} else if (options.keep) {
  for (const name of options.target.filter((name) => name !== STREAMS)) {
    console.log(`${name}: ${await keepNew(name)} kept`);
  }
  process.exit();
} else {
  const seed = Number(options.seed);
  const share = minutes * 60_000 / (options.target.length * options.runtime.length);
  console.log(`seed ${seed}, ${(share / 1000).toFixed(0)} s each\n`);
  let failed = 0;
  for (const runtime of options.runtime) {
    for (const name of options.target) {
      const tally = await (name === STREAMS ? fuzzStreams(runtime, share, seed) : fuzz(runtime, name, share, seed));
      report(runtime, name, tally);
      failed += tally.failures.length;
    }
  }
  console.log(failed === 0 ? "\nnothing failed" : `\n${failed} failed; inputs are in ${relative(root, found)}`);
  process.exitCode = failed === 0 ? 0 : 1;
}
