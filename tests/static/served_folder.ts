/**
 * A static server in a separate process: `served_folder.ts FOLDER node|fetch OPTIONS`, with options as JSON. Prints its
 * port. Commands on standard input: `reload` reloads, and is confirmed; `warnings` prints the warnings so far; `leave`
 * closes everything that the process has open, after which it should end by itself. The end of standard input ends the
 * process.
 */
import process from "node:process";
import { createInterface } from "node:readline";
import type * as Static from "../../lib/static/mod.ts";
import { faceOf } from "../support/built_faces.ts";
import { serveHandler } from "./served_handler.ts";

const { createStaticHandler }: typeof Static = await import(faceOf("static"));
const [directory, entry, options] = process.argv.slice(2);
const warnings: Static.StaticWarning[] = [];
const handler = await createStaticHandler(directory, {
  ...JSON.parse(options),
  onWarning: (warning) => warnings.push(warning),
});
const server = await serveHandler(handler, entry as "node" | "fetch");
console.log(`port ${server.port}`);

const commands = createInterface({ input: process.stdin });
let isLeaving = false;
commands.on("line", async (command) => {
  if (command === "warnings") return console.log(JSON.stringify(warnings));
  if (command === "reload") {
    return console.log(await handler.reload().then(() => "reloaded", (error) => `failed: ${error.message}`));
  }
  isLeaving = true;
  commands.close();
  process.stdin.destroy();
  await handler.close();
  console.log("closed");
  await server.close();
});
commands.on("close", () => isLeaving || process.exit(0));
