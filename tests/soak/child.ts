/** Runs rounds of one scene in a separate process, and prints the outcome as JSON: child.ts SCENE MILLISECONDS */
import process from "node:process";
import { type Sample, sample } from "./process_state.ts";
import { scenes } from "./scenes/mod.ts";
import type { Outcome } from "./verdict.ts";

/** The approximate number of samples, independent of the duration. */
const SAMPLES = 40;

const [name, milliseconds] = process.argv.slice(2);
const unhandled: string[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(String((reason as Error)?.stack ?? reason)));

const samples: Sample[] = [];
let error: string | undefined;
try {
  const scene = await scenes.find((scene) => scene.name === name)!.open();
  const start = performance.now();
  for (let rounds = 0; performance.now() - start < Number(milliseconds); rounds++) {
    const share = (performance.now() - start) / Number(milliseconds);
    await new Promise((resolve) => setTimeout(resolve)); // work that was deferred to the next turn is done by then
    if (share * SAMPLES >= samples.length) samples.push(sample(rounds));
    await scene.round(rounds);
  }
  await scene.close();
  await new Promise((resolve) => setTimeout(resolve, 200)); // unhandled rejections come later
} catch (fault) {
  const { stack, cause } = fault as { stack?: unknown; cause?: { stack?: unknown } };
  error = `${stack ?? fault}${cause === undefined ? "" : `\n  by: ${cause?.stack ?? cause}`}`;
}
console.log(JSON.stringify({ samples, unhandled, error } satisfies Outcome));
process.exit(0);
