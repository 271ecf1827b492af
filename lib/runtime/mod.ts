/**
 * What differs between runtimes, each behind one function.
 *
 * @module
 */
export { startWorker } from "./worker.ts";
export { isProcessAlive } from "./process.ts";
