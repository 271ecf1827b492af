/** Parses and re-emits a file by one contestant, and says how long it took: CONTESTANT INPUT DIRECTORY. */
import process from "node:process";
import { sayTimesOf } from "../timed_job.ts";
import { loadPipeline } from "./pipelines.ts";

const [contestant, input, directory] = process.argv.slice(2);
const pipeline = await loadPipeline(contestant);
await sayTimesOf(() => pipeline(input, directory));
