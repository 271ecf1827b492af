import process from "node:process";
import type { OpenLog } from "./log_sink.ts";

const everywhere: Readonly<Record<string, () => Promise<OpenLog>>> = {
  ours: async () => (await import("./ours.ts")).openSeries,
  "ours as a Writable": async () => (await import("./ours.ts")).openDestination,
};
const onNode: Readonly<Record<string, () => Promise<OpenLog>>> = {
  "sonic-boom": async () => (await import("./node_logs.ts")).openSonicBoom,
  "pino-roll": async () => (await import("./node_logs.ts")).openPinoRoll,
  "rotating-file-stream": async () => (await import("./node_logs.ts")).openRotatingFileStream,
  "fs.createWriteStream": async () => (await import("./node_logs.ts")).openWriteStream,
};
const elsewhere: Readonly<Record<string, Record<string, () => Promise<OpenLog>>>> = {
  bun: { FileSink: async () => (await import("./runtime_logs.ts")).openFileSink },
  deno: { "FsFile joined by hand": async () => (await import("./runtime_logs.ts")).openFsFile },
};

/** Loads a contestant, by its name. */
export const contestants: Readonly<Record<string, () => Promise<OpenLog>>> = {
  ...everywhere,
  ...(process.versions.bun ? elsewhere.bun : process.versions.deno ? elsewhere.deno : {}),
  ...onNode,
};
