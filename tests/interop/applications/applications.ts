import type { runtime } from "../../support/runtime.ts";

type Runtime = typeof runtime;

/** An application that is driven, by a module of its name. */
export interface Driven {
  readonly name: string;
  /** The runtimes that it is driven on; all of them by default. */
  readonly runtimes?: readonly Runtime[];
  /** The scenarios whose outcome differs with this package installed, and the reasons. */
  readonly differences?: readonly { readonly scenario: RegExp; readonly runtime: Runtime; readonly reason: string }[];
}

/**
 * The applications. Fresh and Oak are not among them, as npm has neither (JSR does); Deno drives h3, Hono and the rest.
 */
export const applications: readonly Driven[] = [
  { name: "ai" },
  { name: "aws" },
  { name: "elysia", runtimes: ["bun"] },
  { name: "h3" },
  { name: "hono" },
  {
    name: "next",
    differences: [{
      scenario: /^(continueFizzStream\(\), |RenderResult on Node's server$)/,
      runtime: "deno",
      reason:
        "a chunk that a transform enqueues late comes behind those of a second stream with Deno's own streams, and " +
        "before them with ours, as it does with Node's and Bun's own",
    }],
  },
  { name: "ofetch" },
  { name: "react" },
  { name: "trpc" },
];
