/** The runtimes that blocks are run on. */
export type RuntimeName = "node" | "deno" | "bun";

/** All of them. */
export const runtimeNames: readonly RuntimeName[] = ["node", "deno", "bun"];
