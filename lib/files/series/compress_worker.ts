import { parentPort } from "node:worker_threads";
import { type CompressJob, runCompressJob } from "./compress_job.ts";

const port = parentPort!;
port.on("message", (job: CompressJob) => runCompressJob(job, (outcome) => port.postMessage(outcome)));
