/**
 * Measures how long a server of static files takes to be ready, and its memory: over 10,000 files with their variants
 * and a manifest, and over 10,000 files in all without one.
 *
 *   npm run bench -- static_startup [--rounds 5]
 *
 * Each start is a fresh process. Our handler keeps up to a limit of bodies in memory: with 64 MiB, and with 8 MiB. The
 * folder was read before, so that its pages are in the system's cache. vinext is installed below bench/.corpus when it is
 * first measured.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundled } from "./bundled.ts";
import { runMeasured } from "./measured_process.ts";
import { circumstances, runtimeName, table, writeSection } from "./results.ts";
import { installVinext, vinextModule } from "./static/vinext.ts";
import type { Startup } from "./static_startup/job.ts";
import { tree } from "./static_startup/trees.ts";

/** A server that starts over and over. */
interface Contestant {
  readonly name: string;
  readonly limit: number;
  readonly starts: Startup[];
}

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" } } });
const MEGABYTE = 1e6 / 2 ** 20;
/** The limit of memory in addition to the bodies, in MiB. */
const ALLOWED = 40 * MEGABYTE;
const isNode = runtimeName().startsWith("Node");
if (isNode) await installVinext();
const script = await bundled("bench/static_startup/job.ts", "external");

async function measure(folder: string): Promise<Contestant[]> {
  const path = `/part-0/${readdirSync(join(folder, "part-0")).find((name) => name.endsWith(".js"))}`;
  const peers = isNode ? ["sirv", "vinext 1.4.0"] : [];
  const contestants: Contestant[] = [
    ...[64, 8].map((limit) => ({ name: "ours", limit, starts: [] })),
    ...peers.map((name) => ({ name, limit: NaN, starts: [] })),
  ];
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const { name, limit, starts } of contestants) {
      const args = [name, folder, path, String(limit), vinextModule("static-file-cache.js")];
      starts.push(JSON.parse((await runMeasured(script, args)).output));
    }
  }
  return contestants;
}

function row({ name, limit, starts }: Contestant): string[] {
  const middle = (of: (start: Startup) => number): number => starts.map(of).sort((a, b) => a - b)[starts.length >> 1];
  const ms = (of: (start: Startup) => number): string => `${middle(of).toFixed(0)} ms`;
  const most = Math.max(...starts.map(({ memory }) => memory));
  const anonymous = Math.max(...starts.map(({ anonymous }) => anonymous));
  const allowed = limit + ALLOWED;
  return [
    Number.isNaN(limit) ? name : `${name}, ${limit} MiB`,
    ...[ms(({ created }) => created), ms(({ answered }) => answered), ms(({ loaded }) => loaded), ms(({ cpu }) => cpu)],
    `${middle(({ bodies }) => bodies).toFixed(1)} MiB`,
    `${most.toFixed(0)} MiB`,
    `${anonymous.toFixed(0)} MiB`,
    Number.isNaN(limit) ? "" : `${allowed.toFixed(0)} MiB${most <= allowed ? "" : ": exceeded"}`,
  ];
}

const head = [
  "",
  "created",
  "first answer",
  "all in memory",
  "CPU time",
  "bodies",
  "RSS",
  "of that anonymous",
  "allowed",
];
const parts: string[] = [];
for (
  const [label, folder] of [
    ["10,000 files, 30,000 variants, manifest", await tree(10_000)],
    ["2,500 files, 7,500 variants, no manifest", await tree(2_500, false)],
  ]
) {
  parts.push(`${label}:\n\n${table(head, (await measure(folder)).map(row))}`);
}
const notes =
  `${circumstances()}. Times since the call, medians of ${values.rounds} fresh processes; memory more than ` +
  "before the call, the most of all; allowed: the limit and 40 MB.";
writeSection(`static, start-up: ${runtimeName().split(" ")[0]}`, `${notes}\n\n${parts.join("\n\n")}`);
process.exit();
