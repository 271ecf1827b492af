/**
 * Takes responses with the file `large.bin` of the folder named by the argument from `fetch()`, and drops them unread, as
 * middleware does that answers something else. Prints how many descriptors that left open, and ends once it can close.
 */
import { readdirSync } from "node:fs";
import process from "node:process";
import { createStaticHandler } from "../../lib/static/mod.ts";

const { gc } = globalThis as unknown as { gc: () => void };
const handler = await createStaticHandler(process.argv[2]);
const response = await handler.fetch(new Request("http://site.example/large.bin"));
await response.arrayBuffer();
const before = descriptors();
for (let round = 0; round < 20; round++) {
  await handler.fetch(new Request("http://site.example/large.bin"));
  gc();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
for (let rest = 400; rest > 0 && descriptors() > before; rest--) {
  gc();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
console.log(`left open: ${descriptors() - before}`);
await handler.close();
console.log("closed");

function descriptors(): number {
  return process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
}
