import process from "node:process";
import type { Program } from "./programs/program.ts";

/**
 * A way to serve a program: with the runtime's streams, with ours installed, with those of another checkout, which
 * `MILLRACE_FORMER` names, or written with `node:stream`.
 */
export type Way = "native" | "native, direct" | "ours" | "former" | "node:stream";

/** Returns the ways that a program can be served on this runtime. */
export function waysOf({ title, node }: Program): Way[] {
  const { bun, deno } = process.versions as Record<string, string | undefined>;
  const direct: Way[] = bun && title.startsWith("React") ? ["native, direct"] : [];
  const former: Way[] = process.env.MILLRACE_FORMER ? ["former"] : [];
  return ["native", "ours", ...former, ...direct, ...node && !bun && !deno ? ["node:stream" as const] : []];
}
