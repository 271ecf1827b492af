/**
 * Has a server with all parts serve hostile clients, or does what a part does over and over, for a limited time, and
 * watches what the process holds meanwhile.
 *
 *   npm run soak                                        the server on Node, for 10 minutes
 *   npm run soak -- --minutes 120 --runtime bun --runtime deno --only together --only http
 */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { table } from "../../bench/results.ts";
import { root } from "../support/runtime.ts";
import { scenes } from "./scenes/mod.ts";
import { drawCourse } from "./together/draw_course.ts";
import { CLIENTS, soakTogether } from "./together/together.ts";
import { faultsOf, growthOf, type Outcome } from "./verdict.ts";

const child = join(dirname(fileURLToPath(import.meta.url)), "child.ts");
const runtimes: Readonly<Record<string, readonly string[]>> = {
  node: ["node"],
  bun: ["bun"],
  deno: ["deno", "run", "-A", "--no-check", "--quiet", "--v8-flags=--expose-gc"],
};
const TOGETHER = "together";
const names = [TOGETHER, ...scenes.map(({ name }) => name)];

const usage = `npm run soak -- [options]

  --minutes N      how long in all, shared by scenes and runtimes (default 10)
  --only NAME      this scene (default ${TOGETHER}); may be repeated
  --runtime NAME   node (default), bun or deno; may be repeated

Scenes:
  ${
  TOGETHER.padEnd(13)
}all parts in one server, which hostile clients use; every body is checked, and each request's line in the log;
               the plot of memory, descriptors and delays goes to artefacts/soak_RUNTIME.svg
and of one part each, by rounds:
${scenes.map(({ name, what }) => `  ${name.padEnd(13)}${what}`).join("\n")}

Exit code: 0 all is well; 1 a round failed, memory, files or handles grew, or a rejection was not handled; 2 wrong usage.`;

function refuse(message: string): never {
  console.error(`${message}\n\n${usage}`);
  process.exit(2);
}

function readOptions() {
  try {
    return parseArgs({
      options: {
        minutes: { type: "string", default: "10" },
        only: { type: "string", multiple: true, default: [TOGETHER] },
        runtime: { type: "string", multiple: true, default: ["node"] },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    refuse((error as Error).message);
  }
}

/** A round that takes longer than that, in ms, on top of the scene's time, hangs. */
const PATIENCE = 120_000;

function soak(runtime: string, name: string, milliseconds: number): Promise<Outcome> {
  const [command, ...args] = runtimes[runtime];
  return new Promise((resolve, reject) => {
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const started = spawn(command, [...args, child, name, String(milliseconds)], { stdio: [...stdio] });
    let output = "";
    started.stdout!.setEncoding("utf8").on("data", (text: string) => output += text);
    const timer = setTimeout(() => started.kill("SIGKILL"), milliseconds + PATIENCE);
    started.once("error", reject).once("close", (code, signal) => {
      clearTimeout(timer);
      const error = `it hung, or died: ${signal ?? code}`;
      resolve(code === 0 ? JSON.parse(output.trim().split("\n").at(-1)!) : { samples: [], unhandled: [], error });
    });
  });
}

/** Runs the server with all parts; gives its row of the table. */
async function runTogether(
  runtime: string,
  milliseconds: number,
): Promise<{ row: string[]; faults: readonly string[] }> {
  const seed = Math.floor(Math.random() * 1e6);
  const { moments, sent, faults } = await soakTogether(runtimes[runtime], milliseconds, seed);
  const path = join(root, "artefacts", `soak_${runtime}.svg`);
  mkdirSync(dirname(path), { recursive: true });
  const minutes = milliseconds / 60_000;
  writeFileSync(path, drawCourse(`All parts on ${runtime}, ${CLIENTS} hostile clients`, minutes, moments));
  const total = [...sent.values()].reduce((sum, count) => sum + count, 0);
  console.log(
    `${runtime} ${TOGETHER}, seed ${seed}: ${[...sent].map(([name, count]) => `${count} ${name}`).join(", ")}`,
  );
  console.log(
    `${runtime} ${TOGETHER}: 99% of answers within ${Math.max(...moments.map(({ p99 }) => p99))} ms at worst; ${path}`,
  );
  const kinds = (["rss", "heap", "files"] as const).map((kind) => course({ samples: moments, unhandled: [] }, kind));
  return { row: [runtime, TOGETHER, String(total), ...kinds, "0", faults.length === 0 ? "well" : "FAILED"], faults };
}

/** Returns the growth, or the last sample if there are too few for it. */
function course({ samples }: Outcome, kind: "rss" | "heap" | "files"): string {
  const growth = growthOf(samples, kind);
  return growth ? `${growth.before} ▸ ${growth.after}` : String(samples.at(-1)?.[kind] ?? "");
}

const options = readOptions();
const minutes = Number(options.minutes);
const wrong = [
  ...options.only.filter((name) => !names.includes(name)),
  ...options.runtime.filter((name) => !(name in runtimes)),
];
if (options.help) console.log(usage);
else if (wrong.length > 0) refuse(`there is no ${wrong.join(", ")}`);
else if (!(minutes > 0)) refuse(`--minutes ${options.minutes} is no time`);
else {
  const share = minutes * 60_000 / (options.only.length * options.runtime.length);
  console.log(`${(share / 1000).toFixed(0)} s each\n`);
  const rows: string[][] = [];
  let failed = 0;
  for (const runtime of options.runtime) {
    for (const name of options.only) {
      if (name === TOGETHER) {
        const { row, faults } = await runTogether(runtime, share);
        failed += faults.length;
        for (const fault of faults) console.error(`${runtime}, ${name}: ${fault}`);
        rows.push(row);
        continue;
      }
      const outcome = await soak(runtime, name, share);
      const faults = faultsOf(outcome);
      failed += faults.length;
      for (const fault of faults) console.error(`${runtime}, ${name}: ${fault}`);
      const rounds = String(outcome.samples.at(-1)?.rounds ?? 0);
      const kinds = (["rss", "heap", "files"] as const).map((kind) => course(outcome, kind));
      rows.push([
        runtime,
        name,
        rounds,
        ...kinds,
        String(outcome.unhandled.length),
        faults.length === 0 ? "well" : "FAILED",
      ]);
      console.log(`${runtime} ${name}: ${rounds} rounds`);
    }
  }
  const head = ["runtime", "scene", "rounds", "RSS, MB", "heap, MB", "open files", "unhandled", ""];
  console.log(`\n${table(head, rows)}\n\n${failed === 0 ? "all is well" : `${failed} faults`}`);
  process.exitCode = failed === 0 ? 0 : 1;
}
