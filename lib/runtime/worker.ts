import { Worker } from "node:worker_threads";

/**
 * Starts a worker thread on the module at `url`, which uses `parentPort` of `node:worker_threads`.
 *
 * Deno starts such workers from files only; a module from elsewhere (a package imported from JSR has an https URL) is
 * imported by a one-line module in a data URL.
 */
export function startWorker(url: URL): Worker {
  if (url.protocol === "file:") return new Worker(url);
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(url.href)};`)}`));
}
