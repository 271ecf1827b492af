/** Runs one job by one contestant, and prints its figures: JOB CONTESTANT INPUT DIRECTORY. */
import process from "node:process";
import { sayTimesOf } from "../timed_job.ts";
import { type CsvPipelines, loadPipelines } from "./pipelines.ts";

const [job, contestant, input, directory] = process.argv.slice(2);
const pipeline = (await loadPipelines(contestant))[job as keyof CsvPipelines];
await sayTimesOf(() => pipeline(input, directory));
