import { serveJobs } from "../../runtime/mod.ts";
import { runCompressJob } from "./compress_job.ts";

serveJobs(runCompressJob);
