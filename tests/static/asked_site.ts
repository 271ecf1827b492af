import { createStaticHandler, type StaticHandler, type StaticHandlerOptions } from "../../lib/static/mod.ts";
import { type Answer, asks } from "../support/asked.ts";
import { inFolder, writeTree } from "../support/folders.ts";
import { type Entry, serveHandler } from "./served_handler.ts";

/** A handler that is served, and the way to put requests to it. */
export interface AskedSite {
  readonly ask: (method: string, path: string, headers?: Record<string, string>) => Promise<Answer>;
  readonly port: number;
  readonly handler: StaticHandler;
  /** The folder that is served. */
  readonly folder: string;
}

/** Serves a folder with `files` by one of the ways to a handler, as long as `use` takes. */
export function askingSite(
  entry: Entry,
  files: Readonly<Record<string, string | Uint8Array>>,
  options: StaticHandlerOptions,
  use: (site: AskedSite) => Promise<void>,
): Promise<void> {
  return inFolder(async (folder) => {
    await writeTree(folder, files);
    const handler = await createStaticHandler(folder, options);
    const server = await serveHandler(handler, entry);
    try {
      const { port } = server;
      await use({ ask: asks(`http://127.0.0.1:${port}`), port, handler, folder });
    } finally {
      await server.close();
      await handler.close();
    }
  });
}
