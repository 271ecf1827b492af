import process from "node:process";

/** Reads a file's records one by one, parses them, and writes them by `JSON.stringify()` to another file. */
export type RecordPipeline = (input: string, directory: string) => Promise<void>;

const loaders: Readonly<Record<string, () => Promise<RecordPipeline>>> = {
  ours: async () => (await import("./ours.ts")).reemit,
  "ours by LineStream": async () => (await import("./ours.ts")).reemitByHand,
  "split2 and JSON.parse": async () => (await import("./packages.ts")).withSplit2,
  ndjson: async () => (await import("./packages.ts")).withNdjson,
  "node:stream with readline": async () => (await import("./node_streams.ts")).withReadline,
  "node:stream _writev": async () => (await import("./node_streams.ts")).withWritev,
  native: async () => (await import("./native_streams.ts")).withNode,
  "native with FileSink": async () => (await import("./native_streams.ts")).withFileSink,
  "native with FsFile and TextLineStream": async () => await (await import("./native_streams.ts")).withLineStream(),
  "a loop without streams": async () => (await import("./plain_loop.ts")).withoutStreams,
};

/** Returns the contestants that can run here. */
export function contestantsHere(): string[] {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  return Object.keys(loaders).filter((name) => {
    if (name.includes("FileSink")) return bun !== undefined;
    if (name.includes("TextLineStream")) return deno !== undefined && process.env.DENO_STD_ROOT !== undefined;
    return true;
  });
}

/** Loads a contestant, and nothing of the others. */
export async function loadPipeline(name: string): Promise<RecordPipeline> {
  const load = loaders[name];
  if (!load) throw new TypeError(`"${name}" is no contestant: use ${Object.keys(loaders).join(", ")}`);
  return await load();
}
