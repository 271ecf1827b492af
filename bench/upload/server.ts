/**
 * Stores uploads in the folder that is its second argument by the server that is its first; without arguments, says
 * which there are. Says its port, and ends with its input.
 */
import process from "node:process";
import type { Failure } from "../line_process.ts";
import { serversHere } from "./servers.ts";

/** The answer if a server is named, and starts. */
export interface Listening {
  readonly port: number;
  readonly pid: number;
}

/** The answer if none is. */
export interface Names {
  readonly names: readonly string[];
}

function say(line: Listening | Names | Failure): void {
  console.log(JSON.stringify(line));
}

const [name, folder] = process.argv.slice(2);
const servers = await serversHere();
if (name === undefined) {
  say({ names: Object.keys(servers) });
} else {
  try {
    say({ port: await servers[name](folder), pid: process.pid });
  } catch (error) {
    say({ failure: String(error).split("\n")[0] });
  }
  process.stdin.resume().on("end", () => process.exit());
}
