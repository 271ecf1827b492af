import { serveJobs } from "../runtime/mod.ts";
import { runJob } from "./execute.ts";

serveJobs(runJob);
