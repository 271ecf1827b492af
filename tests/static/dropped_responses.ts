/**
 * Takes responses with the file `large.bin` of the folder named by the argument from `fetch()`, and drops them unread, as
 * middleware does that answers something else. Prints how many descriptors that left open, and ends once it can close.
 */
import { readdirSync, readlinkSync } from "node:fs";
import process from "node:process";
import { createStaticHandler } from "../../lib/static/mod.ts";

const { gc } = globalThis as unknown as { gc: () => void };
const handler = await createStaticHandler(process.argv[2]);
for (let round = 0; round < 20; round++) {
  await handler.fetch(new Request("http://site.example/large.bin"));
  await collect();
}
for (let rest = 200; rest > 0 && descriptors() > 0; rest--) await collect();
console.log(`left open: ${descriptors()}`);
await handler.close();
console.log("closed");

async function collect(): Promise<void> {
  gc();
  await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Returns the number of descriptors of the file that this process has. */
function descriptors(): number {
  if (process.platform !== "linux") return 0;
  return readdirSync("/proc/self/fd").filter((name) => linkOf(name).endsWith("/large.bin")).length;
}

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return ""; // closed meanwhile, as that of the listing is
  }
}
