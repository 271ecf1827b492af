import { parentPort } from "node:worker_threads";
import type { Job } from "./job.ts";
import { runJob } from "./execute.ts";

const port = parentPort!;
port.on("message", (job: Job) => runJob(job, (message) => port.postMessage(message)));
