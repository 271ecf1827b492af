import process from "node:process";
import type { Program } from "./programs/program.ts";

/** A way to serve a program: with the runtime's streams, with ours installed, or written with `node:stream`. */
export type Way = "native" | "native, direct" | "ours" | "node:stream";

/** The ways that a program can be served on this runtime. */
export function waysOf({ title, node }: Program): Way[] {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  const direct: Way[] = bun && title.startsWith("React") ? ["native, direct"] : [];
  return ["native", "ours", ...direct, ...node && !bun && !deno ? ["node:stream" as const] : []];
}
