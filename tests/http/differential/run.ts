/**
 * Has ours, undici, `node:http` and the runtime's own fetch meet servers that play generated scripts, and prints what differs that no
 * known difference explains.
 *
 *   node tests/http/differential/run.ts --cases 20000 [--seed 1] [--lanes 24] [--quiet]
 */
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { root } from "../../support/runtime.ts";
import { type Finding, judge } from "./contest.ts";
import { type Case, generateCase } from "./generate_case.ts";

/** Findings that are printed. */
const MOST_SHOWN = 20;

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "20000" },
    seed: { type: "string", default: String(Date.now() % 1e9) },
    lanes: { type: "string", default: "24" },
    quiet: { type: "boolean", default: false },
  },
});
const first = Number(values.seed);
const count = Number(values.cases);
const explained = new Map<string, number>();
const unexplained: string[] = [];
let [next, done, compared, passing] = [first, 0, 0, 0];

/** Handles errors that peers throw outside of any catch; this package must not. */
function noteError(error: unknown): void {
  const text = String((error as Error)?.stack ?? error);
  if (text.includes(join(root, "lib"))) unexplained.push(`not handled: ${text}`);
}
process.on("unhandledRejection", noteError);
process.on("uncaughtException", noteError);

function note({ seed, features }: Case, { peer, aspect, explanation, detail }: Finding): void {
  if (explanation === undefined) {
    unexplained.push(`seed ${seed}, ${peer}: ${aspect}\n  ${[...features].join("; ")}\n  ${detail}`);
    return;
  }
  const { reason, section } = explanation;
  const words = `${aspect.replace(/^field .*/, "a field")}: ${reason} (${section})`;
  explained.set(words, (explained.get(words) ?? 0) + 1);
}

async function lane(): Promise<void> {
  while (next < first + count) {
    const each = generateCase(next++);
    const judgement = await judge(each);
    compared += judgement.compared;
    passing += judgement.passing;
    for (const finding of judgement.findings) note(each, finding);
    if (++done % 1000 === 0 && !values.quiet) {
      console.log(`${done} of ${count} cases, ${unexplained.length} unexplained`);
    }
  }
}

await Promise.all(Array.from({ length: Number(values.lanes) }, lane));
if (!values.quiet) {
  for (const [words, times] of [...explained].sort(([, one], [, other]) => other - one)) {
    console.log(`${String(times).padStart(7)} ${words}`);
  }
}
console.log(unexplained.slice(0, MOST_SHOWN).join("\n"));
const total = [...explained.values()].reduce((sum, times) => sum + times, 0);
const counts = `${compared} answers compared, ${total} differences explained, ${unexplained.length} not`;
console.log(`${count} cases from seed ${first}: ${counts}; ${passing} came and went`);
process.exit(unexplained.length === 0 ? 0 : 1);
