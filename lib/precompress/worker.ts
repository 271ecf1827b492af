import { parentPort } from "node:worker_threads";
import { execute } from "./execute.ts";
import type { Job } from "./job.ts";

const port = parentPort!;
port.on("message", async (job: Job) => port.postMessage(await execute(job)));
