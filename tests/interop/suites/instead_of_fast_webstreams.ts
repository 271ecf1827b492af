/**
 * Has the tests of fast-webstreams import ours in its place: `node --import` this. What they reach of its sources besides
 * stays theirs.
 *
 * @module
 */
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isTheirs = /\/test\/[\w-]+\.test\.js$/.test(context.parentURL ?? "");
    if (!isTheirs || !/\/src\/(index|patch)\.js$/.test(found.url)) return found;
    return { url: new URL("as_fast_webstreams.ts", import.meta.url).href, shortCircuit: true };
  },
});
