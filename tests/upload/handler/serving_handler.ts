import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../../../lib/runtime/mod.ts";
import {
  createUploadHandler,
  type UploadHandler,
  type UploadHandlerOptions,
  type UploadLogEntry,
} from "../../../lib/upload/mod.ts";
import { writeTree } from "../../support/folders.ts";
import { serveFetch } from "../../static/fetch_server.ts";

interface Server {
  readonly port: number;
  close(): Promise<void>;
}

/** The ways to a handler. On Bun and Deno `fetch` is called by the runtime's own server, on Node by srvx. */
export const entries: Readonly<Record<string, (handler: UploadHandler) => Promise<Server>>> = {
  "node:http": serveOnHttp,
  fetch: (handler) => serveFetch(handler.fetch),
  "serve()": async ({ fetch, node }) => {
    const { port, stop } = await serve({ fetch, node, hostname: "127.0.0.1", port: 0 });
    return { port, close: () => stop(0) };
  },
};

async function serveOnHttp(handler: UploadHandler): Promise<Server> {
  const server = createServer(handler.node);
  server.on("checkContinue", handler.checkContinue);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A handler that is served. */
export interface Serving {
  readonly port: number;
  readonly handler: UploadHandler;
  /** The folder where it stores. */
  readonly folder: string;
  readonly logged: UploadLogEntry[];
}

/**
 * Serves a handler for a folder of its own, while `use` runs.
 *
 * @param files What is there before, by path.
 */
export async function serving(
  entry: string,
  options: Partial<UploadHandlerOptions>,
  use: (serving: Serving) => Promise<void>,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  await inUploads(async (folder) => {
    await writeTree(folder, files);
    const logged: UploadLogEntry[] = [];
    const log = (entry: UploadLogEntry) => void logged.push(entry);
    const handler = createUploadHandler({ ...(!options.storage && { directory: folder }), log, ...options });
    const server = await entries[entry](handler);
    try {
      await use({ port: server.port, handler, folder, logged });
    } finally {
      await server.close();
    }
  });
}

/** A folder for uploads, removed after it. */
export async function inUploads(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-uploads-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns all that is in a folder, by path: files with their content, also such that begin with a dot. No link is
 * followed.
 */
export async function contentsOf(folder: string): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  const entries = await readdir(folder, { withFileTypes: true }); // Bun's own recursion would follow links
  for (const entry of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = join(folder, entry.name);
    if (entry.isFile()) contents[entry.name] = await readFile(path, "latin1");
    if (!entry.isDirectory()) continue;
    for (const [name, content] of Object.entries(await contentsOf(path))) contents[`${entry.name}/${name}`] = content;
  }
  return contents;
}
