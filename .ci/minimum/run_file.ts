/**
 * Runs a file of tests with {@link file://./node_test.ts} as `node:test`, and ends with a line of JSON.
 *
 *   bun --preload .ci/minimum/on_bun.ts .ci/minimum/run_file.ts FILE
 *   deno run -A --no-check --config GENERATED .ci/minimum/run_file.ts FILE
 */
import { resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { runTests } from "./node_test.ts";

await import(pathToFileURL(resolve(process.argv[2])).href);
const outcome = await runTests(60_000);
process.stdout.write(`\n${JSON.stringify(outcome)}\n`, () => process.exit(outcome.failed > 0 ? 1 : 0));
