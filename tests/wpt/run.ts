/**
 * The web platform tests of streams on each runtime, and in Chromium where it is, against ours and the runtime's own:
 *
 *     node tests/wpt/run.ts [--mode ours] [--runtime node] [--filter text] [--verbose]
 *
 * Exits with 1 if ours, or native streams piped by ours, fail anything.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { noChromium } from "../e2e/chromium.ts";
import { type Mode, modes } from "./mode.ts";
import { failures, totals } from "./result.ts";
import { runSuite, type Runtime, runtimes } from "./run_suite.ts";
import { getSuite } from "./suite.ts";

/** Whether failures are this package's alone: Chromium's own transform streams fail tests, whichever pipe they have. */
function mustPass(mode: Mode, runtime: Runtime): boolean {
  return mode === "ours" || (mode === "native-pipe-to" && runtime !== "chromium");
}

const here = runtimes.filter((runtime) => runtime !== "chromium" || !noChromium);
const widths = [8, 15, 7, 7, 7, 0];

const { values } = parseArgs({
  options: {
    mode: { type: "string", multiple: true, default: [...modes] },
    runtime: { type: "string", multiple: true, default: here },
    filter: { type: "string", default: "" },
    verbose: { type: "boolean", default: false },
  },
});
process.exitCode = await main(oneOf(modes, values.mode), oneOf(runtimes, values.runtime));

async function main(chosenModes: readonly Mode[], chosenRuntimes: readonly Runtime[]): Promise<number> {
  const root = await getSuite();
  const rows = [["runtime", "mode", "passed", "failed", "total", "time"]];
  let failed = false;
  for (const runtime of chosenRuntimes) {
    for (const mode of chosenModes) {
      const started = performance.now();
      const results = await runSuite(root, { runtime, mode, filter: values.filter });
      const sums = totals(results);
      if (values.verbose) {
        for (const { file, subtests } of results) console.log(`${file}: ${subtests.length} subtests`);
      }
      for (const failure of failures(results)) console.log(`${runtime} ${mode}: ${failure}`);
      const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`;
      rows.push([runtime, mode, ...[sums.passed, sums.failed, sums.passed + sums.failed].map(String), seconds]);
      failed ||= mustPass(mode, runtime) && sums.failed > 0;
    }
  }
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ").trimEnd());
  return failed ? 1 : 0;
}

function oneOf<T extends string>(allowed: readonly T[], chosen: readonly string[]): T[] {
  const foreign = chosen.find((each) => !(allowed as readonly string[]).includes(each));
  if (foreign !== undefined) throw new TypeError(`${foreign} is none of ${allowed.join(", ")}`);
  return chosen as T[];
}
