/**
 * A static server that is traced from outside: `traced_server.ts FOLDER node|fetch MEMORY_LIMIT`. Prints its port. The
 * command `mark NAME` on standard input makes it request a path with that name from the file system, as a mark in the
 * trace. The end of standard input ends the process.
 */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { createStaticHandler } from "../../lib/static/mod.ts";
import { serveFetch } from "./fetch_server.ts";
import { markPath } from "./strace.ts";

const [directory, entry, memoryLimit] = process.argv.slice(2);
const handler = await createStaticHandler(directory, { memoryLimit: Number(memoryLimit), onWarning: () => {} });

async function listen(): Promise<number> {
  if (entry === "fetch") return (await serveFetch(handler.fetch)).port;
  const server = createServer(handler.node);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return (server.address() as AddressInfo).port;
}

new Date().toString(); // reads the time zone's file, once
console.log(`port ${await listen()}`);
const commands = createInterface({ input: process.stdin });
commands.on("line", (line) => {
  existsSync(markPath(line.replace("mark ", "")));
  console.log(line);
});
commands.on("close", () => process.exit(0));
