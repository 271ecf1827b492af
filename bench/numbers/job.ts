/**
 * Does one job by one contestant, and says how long it took: JOB CONTESTANT INPUT COUNT MAX_FILE_SIZE DIRECTORY. The
 * numbers of a generator come from a sieve made before, unless `segments` follows.
 */
import process from "node:process";
import type { Failure } from "../line_process.ts";
import { jobs, loadPipelines } from "./pipelines.ts";
import { primes, primesIn, sieveOf } from "./primes.ts";

/** What a job took. */
export interface JobTimes {
  /** From its start until the last file was closed. */
  readonly seconds: number;
  /** CPU time of the process in that time, all its threads together. */
  readonly cpu: number;
}

const [job, contestant, input, countText, maxFileSize, directory, segments] = process.argv.slice(2);
const count = Number(countText);

async function run(): Promise<JobTimes> {
  const pipelines = await loadPipelines(contestant);
  const pipeline = pipelines[jobs[job]];
  if (!pipeline) throw new TypeError(`it has no "${job}"`);
  const needsSieve = job !== "file to files" && segments === undefined;
  const sieve = needsSieve ? sieveOf(count) : undefined;
  const numbers = (): Generator<number, void, undefined> => sieve ? primesIn(sieve, count) : primes(count);
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  await pipeline({ input, directory, maxFileSize: Number(maxFileSize), numbers });
  const { user, system } = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - start) / 1000;
  return { seconds, cpu: (user + system) / 1e6 };
}

let answer: JobTimes | Failure;
try {
  answer = await run();
} catch (error) {
  console.error(error);
  answer = { failure: String(error).split("\n")[0] };
}
console.log(JSON.stringify(answer));
