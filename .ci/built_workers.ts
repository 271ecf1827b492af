/**
 * Has workers on Node load the modules of the build that `MILLRACE_BUILT` names: those of the sources are eight times as
 * many, and take each worker a tenth of a second of a processor. `npm test` loads it before tests.
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const addresses = [
  { module: /\/lib\/precompress\/worker_address\.ts$/, name: "workerAddress", worker: "lib/precompress/worker.js" },
  {
    module: /\/lib\/files\/series\/compress_worker_address\.ts$/,
    name: "compressWorkerAddress",
    worker: "lib/files/series/compress_worker.js",
  },
];
const { MILLRACE_BUILT } = process.env;

if (MILLRACE_BUILT) {
  registerHooks({
    load(url, context, next) {
      const address = addresses.find(({ module }) => module.test(url));
      if (address === undefined) return next(url, context);
      const place = JSON.stringify(pathToFileURL(join(MILLRACE_BUILT, address.worker)).href);
      const source = `export function ${address.name}() { return new URL(${place}); }`;
      return { format: "module", source, shortCircuit: true };
    },
  });
}
