/**
 * A static server in a process of its own: `served_folder.ts FOLDER node|fetch OPTIONS`, the options as JSON. Prints its
 * port. Told `reload` on standard input, it reloads, and says so; told `warnings`, it prints those so far; told `leave`,
 * it closes all that it has open itself, and should end by itself. It ends with its standard input.
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
