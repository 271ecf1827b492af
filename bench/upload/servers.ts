import process from "node:process";
import { fetchStoring, listenByFetch, listenByNode, type Store, storing } from "./listening.ts";
import { nodeFetchStores, nodeStores } from "./node_stores.ts";

/** Starts to store uploads in a folder, and resolves to the port. */
export type StartServer = (folder: string) => Promise<number>;

const { bun, deno } = process.versions as Record<string, string | undefined>;

/** Returns all servers of this runtime, by name: the usual ways, and ours. */
export async function serversHere(): Promise<Readonly<Record<string, StartServer>>> {
  const { "pipeline, createWriteStream": pipeline, ...others } = nodeStores;
  const byNode = (stores: typeof nodeStores): [string, StartServer][] =>
    Object.entries(stores).map(([name, store]) => [
      nodeName + name,
      (folder) => listenByNode(storing(folder, store)),
    ]);
  return Object.fromEntries([
    ...Object.entries(await fetchStoresHere()).map(([name, store]): [string, StartServer] => [
      name,
      (folder) => listenByFetch(fetchStoring(folder, store)),
    ]),
    ...byNode({ "pipeline, createWriteStream": pipeline, ...(bun || deno ? {} : others) }),
    ...Object.entries(ours),
  ]);
}

async function fetchStoresHere(): Promise<Readonly<Record<string, Store<Request>>>> {
  if (bun) return (await import("./bun_stores.ts")).bunStores;
  if (deno) return (await import("./deno_stores.ts")).denoStores;
  return nodeFetchStores;
}

/** Loaded by its own servers only, so that the memory of the others is theirs. */
const upload = (): Promise<typeof import("../../lib/upload/mod.ts")> => import("../../lib/upload/mod.ts");

/** The prefixes of the names: only the server that isn't the runtime's main one is named. */
const [fetchName, nodeName] = bun || deno ? ["", "node:http: "] : ["fetch: ", ""];

const ours: Readonly<Record<string, StartServer>> = {
  async [`ours, ${fetchName}saveBody`](folder): Promise<number> {
    const { saveBody } = await upload();
    return await listenByFetch(fetchStoring(folder, saveBody));
  },
  async [`ours, ${fetchName}handler`](directory): Promise<number> {
    const { createUploadHandler } = await upload();
    return await listenByFetch(createUploadHandler({ directory, maxBytes: Infinity }).fetch);
  },
  async [`ours, ${nodeName}saveBody`](folder): Promise<number> {
    const { saveBody } = await upload();
    return await listenByNode(storing(folder, saveBody));
  },
  async [`ours, ${nodeName}handler`](directory): Promise<number> {
    const { createUploadHandler } = await upload();
    const { node } = createUploadHandler({ directory, maxBytes: Infinity });
    return await listenByNode((request, response) => node(request, response));
  },
};
