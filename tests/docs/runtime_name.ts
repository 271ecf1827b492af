/** The runtimes that blocks are run on. */
export type RuntimeName = "node" | "deno" | "bun";

/** The names of all runtimes. */
export const runtimeNames: readonly RuntimeName[] = ["node", "deno", "bun"];
