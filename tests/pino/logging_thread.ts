/** Logs a line to a folder, reports that, and keeps running. */
import { parentPort, workerData } from "node:worker_threads";
import type * as Pino from "../../lib/pino/mod.ts";
import { faceOf } from "../support/built_faces.ts";

const { openLogDestination }: typeof Pino = await import(faceOf("pino"));
const destination = await openLogDestination({ directory: workerData as string, name: "app.log", maxFileSize: 1000 });
destination.write("first\n");
await destination.flush();
parentPort!.postMessage("written");
setInterval(() => {}, 1000);
