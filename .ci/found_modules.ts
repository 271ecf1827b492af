/**
 * Has tests on Node find the modules that relative imports name without Node's own steps, which look for each file and its
 * package, and take half of the time of loading the sources. In a whole run workers load the modules of the build that
 * `MILLRACE_BUILT` names: those of the sources are eight times as many. `npm test` loads it before tests.
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { root } from "./root.ts";

const { MILLRACE_BUILT } = process.env;
const ours = pathToFileURL(join(root, "/")).href;

/** The modules with the address of a worker, as those that the build has. */
const addresses = new Map(
  [
    { module: "lib/precompress/worker_address.ts", name: "workerAddress", worker: "lib/precompress/worker.js" },
    {
      module: "lib/files/series/compress_worker_address.ts",
      name: "compressWorkerAddress",
      worker: "lib/files/series/compress_worker.js",
    },
  ].map(({ module, name, worker }) => {
    const place = JSON.stringify(MILLRACE_BUILT && pathToFileURL(join(MILLRACE_BUILT, worker)).href);
    const source = `export function ${name}() { return new URL(${place}); }`;
    return [`${ours}${module}`, `data:text/javascript,${encodeURIComponent(source)}`];
  }),
);

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context;
    if (!specifier.startsWith(".") || !specifier.endsWith(".ts") || !parentURL?.startsWith(ours)) {
      return next(specifier, context);
    }
    const { href } = new URL(specifier, parentURL);
    const address = MILLRACE_BUILT ? addresses.get(href) : undefined;
    if (address !== undefined) return { url: address, format: "module", shortCircuit: true };
    return { url: href, format: "module-typescript", shortCircuit: true };
  },
});
