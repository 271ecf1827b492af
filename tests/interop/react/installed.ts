/** Runs all cases with our streams as the globals: they are put there before React is loaded. */
import "../../../lib/streams/install.ts";
import assert from "node:assert/strict";
import process from "node:process";
import { ReadableStream } from "../../../lib/streams/mod.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
const { cases } = await import("./cases.ts");
assert.equal(globalThis.ReadableStream, ReadableStream);
for (const [name, run] of Object.entries(cases)) {
  try {
    await run();
  } catch (cause) {
    throw new Error(name, { cause });
  }
}
assert.deepEqual(unhandled, []);
console.log(`${Object.keys(cases).length} fine`);
process.exit();
