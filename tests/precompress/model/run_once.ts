/** Runs precompress() when a line comes, for who wants to kill it: `DIRECTORY OPTIONS-AS-JSON`. */
import { createInterface } from "node:readline";
import process from "node:process";
import { precompress } from "../../../lib/precompress/mod.ts";

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { directory, options } = JSON.parse(line);
  await precompress(directory, options).catch(() => {});
  process.stdout.write("done\n");
}
