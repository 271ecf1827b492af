/**
 * Does one job by one contestant, and says how long it took: JOB CONTESTANT INPUT COUNT MAX_FILE_SIZE DIRECTORY. The
 * numbers of a generator come from a sieve made before, unless `segments` follows.
 */
import process from "node:process";
import { sayTimesOf } from "../timed_job.ts";
import { jobs, loadPipelines } from "./pipelines.ts";
import { primes, primesIn, sieveOf } from "./primes.ts";

const [job, contestant, input, countText, maxFileSize, directory, segments] = process.argv.slice(2);
const count = Number(countText);
const pipeline = (await loadPipelines(contestant))[jobs[job]];
const needsSieve = job !== "file to files" && segments === undefined;
const sieve = needsSieve ? sieveOf(count) : undefined;
const numbers = (): Generator<number, void, undefined> => sieve ? primesIn(sieve, count) : primes(count);
await sayTimesOf(async () => {
  if (!pipeline) throw new TypeError(`${contestant} has no "${job}"`);
  await pipeline({ input, directory, maxFileSize: Number(maxFileSize), numbers });
});
