/** Runs precompress() once a line arrives, so that a test can kill it: `DIRECTORY OPTIONS-AS-JSON`. */
import { createInterface } from "node:readline";
import process from "node:process";
import type * as Precompress from "../../../lib/precompress/mod.ts";
import { faceOf } from "../../support/built_faces.ts";

const { precompress }: typeof Precompress = await import(faceOf("precompress"));
process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { directory, options } = JSON.parse(line);
  await precompress(directory, options).catch(() => {});
  process.stdout.write("done\n");
}
