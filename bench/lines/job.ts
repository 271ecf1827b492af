/** Runs one job by one contestant, and prints its figures: JOB CONTESTANT INPUT EXPECTED. */
import process from "node:process";
import { sayTimesOf } from "../timed_job.ts";
import { loadPipelines, type Pipelines } from "./pipelines.ts";

const [job, contestant, input, expected] = process.argv.slice(2);
const pipeline = (await loadPipelines(contestant))[job as keyof Pipelines];
await sayTimesOf(async () => {
  if (!pipeline) throw new TypeError(`${contestant} has no job "${job}"`);
  const result = await pipeline(input);
  if (result !== expected) throw new TypeError(`it counted ${result} instead of ${expected}`);
});
