/**
 * Publishes the package as it is here to an npm registry and a JSR registry of its own, and serves them until Ctrl+C:
 *
 *   node tests/e2e/serve_registries.ts
 *
 * prints what to paste into another terminal, in which `npm i @millrace/streams`, `bun add`, `deno add` and the like
 * then install it, with empty caches.
 */
import process from "node:process";
import { publishCopy } from "./published.ts";

const published = [await publishCopy("npm"), await publishCopy("deno")];
const [npm, jsr] = published;
for (const [name, value] of Object.entries({ ...npm.env, JSR_URL: jsr.env.JSR_URL })) {
  console.log(`export ${name}="${value}"`);
}
await new Promise<void>((stopped) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped());
});
for (const each of published) await each[Symbol.asyncDispose]();
