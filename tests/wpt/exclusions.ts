import type { Mode } from "./mode.ts";
import type { Runtime } from "./run_suite.ts";

/** Excluded subtests, and the reason. */
interface Exclusion {
  readonly file: RegExp;
  /** Which subtests of the file; all without it. */
  readonly subtest?: RegExp;
  /** The modes with the exclusion; default: all. */
  readonly mode?: Mode | readonly Mode[];
  readonly runtime?: Runtime | readonly Runtime[];
  readonly reason: string;
}

const exclusions: readonly Exclusion[] = [
  {
    file: /readable-streams\/owning-type/,
    reason: `the type "owning" is a proposal, not in the standard`,
  },
  {
    file: /^(?!streams\/piping\/)/,
    mode: ["ours-to-native", "native-to-ours"],
    reason: "is not about pipes from one implementation to another",
  },
  {
    file: /piping\/then-interception/,
    mode: "native-to-ours",
    reason:
      "what a native stream gives can be had from a promise only, which looks for `then` on the result of the read",
  },
  {
    file: /idlharness/,
    mode: "native-pipe-to",
    reason: "checks how the runtime defines its classes, not how they pipe",
  },
  {
    file: /idlharness/,
    subtest:
      /^(Readable|Writable|Transform)Stream(DefaultReader|BYOBReader|DefaultWriter)? interface: existence and properties of interface (prototype )?object$/,
    mode: "ours",
    reason: "ours inherit from the runtime's classes, which makes them pass wherever the runtime wants a stream",
  },
  {
    file: /readable-streams\/from/,
    subtest: /^ReadableStream.from accepts a string$/,
    reason: "since July 2026 the standard refuses strings, which the suite's next version asks for",
  },
  {
    file: /transform-streams\/cancel/,
    subtest: /^readable.cancel\(\) and a parallel writable.close\(\) should reject if a transformer.cancel\(\) calls/,
    mode: "native-pipe-to",
    runtime: "deno",
    reason: "a fault of Deno's TransformStream that has nothing to do with piping",
  },
  {
    file: /piping\/general-addition/,
    subtest: /^enqueue\(\) must not synchronously call write algorithm$/,
    mode: "native-pipe-to",
    runtime: "deno",
    reason:
      "a fault of Deno's own pipe, which is still the more exact one for two of its streams: ours, with no more " +
      "than their public methods, would fail five others",
  },
  {
    file: /^encoding\/streams\/backpressure/,
    mode: "native-pipe-to",
    runtime: "bun",
    reason: "a fault of Bun's own text streams, whose writable ends are never full",
  },
  {
    file: /^compression\//,
    subtest: /^chunk of type (SharedArrayBuffer|shared Uint8Array) should error the stream/,
    mode: "ours",
    reason: "ours take shared memory, too, as an extension: what is in it when it is written is copied",
  },
  {
    file: /transferable\/transform-stream-members/,
    mode: "ours",
    runtime: ["node", "chromium"],
    reason: "the ends of a transform stream of ours have native sides of their own, so who transfers native sides " +
      "sees no transform stream sent along with its own end (transferring is outside the suite's 1,096)",
  },
];

/** Whether a whole file, or a subtest of it, is excluded. */
export function isExcluded(file: string, subtest: string | undefined, runtime: Runtime, mode: Mode): boolean {
  return exclusions.some((each) =>
    each.file.test(file) && [each.mode ?? mode].flat().includes(mode) &&
    [each.runtime ?? runtime].flat().includes(runtime) &&
    (each.subtest === undefined || (subtest !== undefined && each.subtest.test(subtest)))
  );
}
