import { parentPort } from "node:worker_threads";
import { execute } from "./execute.ts";
import type { Advance, Job } from "./job.ts";

const port = parentPort!;
port.on("message", async (job: Job) => {
  const advance = (bytes: number) => port.postMessage({ bytes } satisfies Advance);
  port.postMessage(await execute(job, advance));
});
