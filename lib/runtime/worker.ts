import process from "node:process";
import { Worker } from "node:worker_threads";

/** On Node, the place of the process's compile cache, with which a worker starts in half of the time. */
function compileCache(): Record<string, string> {
  if ("Deno" in globalThis) return {}; // it would ask for permission to read the variable, and has no such cache
  const folder = process.env.NODE_COMPILE_CACHE;
  return folder ? { NODE_COMPILE_CACHE: folder } : {};
}

/**
 * Starts a worker thread on the module at `url`, which uses `parentPort` of `node:worker_threads`.
 *
 * Deno starts such workers from files only; a module from elsewhere (a package imported from JSR has an https URL) is
 * imported by a one-line module in a data URL. The environment is empty but for the compile cache: Deno would ask for all
 * of it to copy it, and Deno 2.4 cannot share it.
 */
export function startWorker(url: URL): Worker {
  const isFile = url.protocol === "file:";
  const program = `data:text/javascript,${encodeURIComponent(`import ${JSON.stringify(url.href)};`)}`;
  return new Worker(isFile ? url : new URL(program), { env: compileCache() });
}
