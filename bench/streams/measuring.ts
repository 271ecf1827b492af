/**
 * Measures one implementation in one scenario, by arguments of `contestant.ts`: the implementation's name, the
 * scenario's title and a measurement's duration. Prints a line when ready, then one for each input line.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { setImmediate as turn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Failure } from "../line_process.ts";
import { type Implementation, loadImplementation } from "./implementation.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

/** The first answer. */
export interface Ready {
  readonly ready: true;
}

/** Every other answer, in chunks (or streams) a millisecond. */
export interface Rate {
  readonly rate: number;
}

/** The number of measurements before V8 and JavaScriptCore have settled on code. */
const WARM = 5;

/**
 * Runs the scenario once and requires that all of it arrived. Nothing is collected by force: a full collection throws
 * away compiled code that depends on objects just collected (native pipeThrough on Node: 0.6 of its speed), a minor one
 * keeps the young generation small (`Response.text()` of fast-webstreams: 0.6).
 */
async function time(scenario: Scenario, classes: Implementation, amount: number): Promise<number> {
  await turn();
  const start = performance.now();
  const count = await scenario.run(classes, amount);
  const milliseconds = performance.now() - start;
  const expected = amount * scenario.unit;
  if (Number.isNaN(count)) throw new TypeError("chunks of a wrong size arrived, or not the same at both branches");
  if (count !== expected) throw new TypeError(`${count} of ${expected} ${scenario.counted ?? "chunks"} arrived`);
  return milliseconds;
}

/** Warms up with growing amounts, and returns the one that takes as long as we aim for. */
async function warmUp(scenario: Scenario, classes: Implementation, aim: number): Promise<number> {
  let amount = Math.ceil(100 / scenario.unit);
  for (let sum = 0; sum < WARM * aim;) {
    const milliseconds = await time(scenario, classes, amount);
    sum += milliseconds;
    amount = Math.ceil(amount * Math.min(aim / milliseconds, 4));
  }
  return amount;
}

function say(line: Ready | Rate | Failure): void {
  console.log(JSON.stringify(line));
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the first line of an error, without the repository's path. */
function failureOf(error: unknown): Failure {
  return { failure: String(error).split("\n")[0].replaceAll(root, "") };
}

async function serve(scenario: Scenario, classes: Implementation, aim: number): Promise<void> {
  let amount = 0;
  for await (const _ of createInterface({ input: process.stdin })) {
    try {
      amount ||= await warmUp(scenario, classes, aim);
      say({ rate: amount * scenario.unit / await time(scenario, classes, amount) });
    } catch (error) {
      say(failureOf(error));
    }
  }
}

const [, , name, title, aim] = process.argv;
const scenario = scenarios.find((one) => one.title === title);
if (!scenario) throw new TypeError(`no scenario is named "${title}"`);
try {
  const classes = await loadImplementation(name);
  say({ ready: true });
  await serve(scenario, classes, Number(aim));
} catch (error) {
  say(failureOf(error));
}
