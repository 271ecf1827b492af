import process from "node:process";
import type { Failure } from "./line_process.ts";
import { runMeasured } from "./measured_process.ts";
import type { Round } from "./contest.ts";

/** The figures of a job, as measured by its process. */
type JobTimes = Omit<Round, "peakMemory">;

/** Runs a job in its process, and prints its figures or its failure. */
export async function sayTimesOf(job: () => Promise<void>): Promise<void> {
  console.log(JSON.stringify(await timesOf(job)));
}

async function timesOf(job: () => Promise<void>): Promise<JobTimes | Failure> {
  const start = performance.now();
  const cpuBefore = process.cpuUsage();
  try {
    await job();
  } catch (error) {
    console.error(error);
    return { failure: String(error).split("\n")[0] };
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return { seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 };
}

/** Runs a script that says its times in a process of its own, and rejects if it failed. */
export async function runTimed(script: string, args: readonly string[]): Promise<Round> {
  const { output, peakMemory } = await runMeasured(script, args);
  const answer = JSON.parse(output) as JobTimes | Failure;
  if ("failure" in answer) throw new TypeError(answer.failure);
  return { ...answer, peakMemory };
}
