import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { builtPackage } from "../support/built_package.ts";

/** A folder that the built package serves. */
export interface ServedSite extends AsyncDisposable {
  readonly url: string;
}

/** Returns the folder of the build, and the path of its command. */
async function commandOfBuild(): Promise<{ readonly dist: string; readonly command: string }> {
  const dist = await builtPackage();
  return { dist, command: join(dist, "lib/cli/cli.js") };
}

/** Runs the built command, and returns what it prints. */
export async function runBuilt(...args: readonly string[]): Promise<string> {
  const { command } = await commandOfBuild();
  return (await promisify(execFile)(process.execPath, [command, ...args])).stdout;
}

/** Serves a precompressed folder by the static handler of the build. */
export async function serveSite(folder: string): Promise<ServedSite> {
  const { dist } = await commandOfBuild();
  const { createStaticHandler } = await import(pathToFileURL(join(dist, "lib/static/mod.js")).href);
  const site = await createStaticHandler(folder);
  const server = createServer(site.node);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await site.close();
    },
  };
}
