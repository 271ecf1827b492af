import { isPlain } from "../../../lib/streams/language/host.ts";
import type { Difference } from "./cells.ts";

const without = (mask: RegExp) => (native: string, ours: string) => native.replace(mask, "") === ours.replace(mask, "");

const cancelledTransfer: Omit<Difference, "on"> = {
  cells: /^structuredClone\(\) .* its readable end cancelled/,
  reason: "a transform stream of ours that was cancelled goes to another owner as one that fails",
};

const erroringSide: Omit<Difference, "on"> = {
  cells: /^a native pipeTo\(\).* aborted behind a write/,
  reason: "a side that was made with its stream errors at once, without waiting for the write in flight",
  excuses: (native, ours) => /^\["waits|^\[\[null/.test(native) && ours.startsWith('[["fails'),
};

/** The cells where this package differs from native streams, each with the reason. */
export const known: readonly Difference[] = [
  { ...cancelledTransfer, on: ["browser"] },
  { ...cancelledTransfer, on: ["node", "deno"], plain: true },
  {
    cells: /^structuredClone\(\) without transfer .* a TextEncoderStream/,
    on: ["browser"],
    reason: "text streams of ours are plain objects to it",
  },
  {
    cells: /^(Response|Request|new Re)/,
    on: ["bun"],
    reason: "Bun sees that a stream was read as a user's reader is released, and not what pipes and iterators read",
    excuses: without(/"used":\w+,/g),
  },
  {
    cells: /^new Request\(request\)/,
    on: ["bun"],
    reason: "so a request is refused to be copied for its lock",
    excuses: (native, ours) => native.includes('"used":true') && ours.includes("TypeError"),
  },
  {
    cells: /^(locked|getReader|getWriter|new Readable|values|cancel|abort|tee|pipeTo|pipeThrough)/,
    on: ["bun"],
    reason: "what pipes and iterators have closed stays locked to Bun's own methods, which see late that others closed",
    excuses: (native, ours) => !/one|two|three/.test(native) && /TypeError|^\[false,true\]$/.test(ours),
  },
  {
    cells: /^WebAssembly\.compileStreaming/,
    on: ["bun"],
    reason: "so what is left of a body is found to be no module",
    excuses: (native, ours) => native === '"fails: TypeError"' && ours === '"fails: CompileError"',
  },
  {
    cells: /^(pipeline|compose).* a TextEncoderStream \|.*locked/,
    on: ["bun"],
    reason: "Bun's own text streams take a chunk before they are read",
    excuses: (native, ours) => native === '["TypeError",""]' && ours === '"waits"',
  },
  {
    cells: /^getters of the runtime's class/,
    on: ["bun"],
    reason: "the ends that the getters of Bun's class give of a transform stream of ours are not those of ours",
  },
  {
    cells: /^a native pipeTo\(\).* a pipe that has ended/,
    on: ["bun"],
    reason: "a stream that a pipe has closed stays locked to Bun's own methods",
    excuses: (_, ours) => ours.startsWith('[["fails: TypeError",[]]'),
  },
  { ...erroringSide, on: ["bun", "browser"] },
  { ...erroringSide, on: ["node", "deno"], plain: true },
  {
    cells: /^a native pipeTo\(\) of (nothing|a failed source) into toNative/,
    on: ["bun", "browser"],
    reason: "a side that toNative() makes of an errored stream is erroring for a microtask",
    excuses: (native, ours) => native.startsWith('["fails') && /^\[(null|"fails: (RangeError|enough)")/.test(ours),
  },
  {
    cells: /^a native pipeTo\(\) of (queued chunks|nothing|chunks .* that fails \| fresh)/,
    on: ["node"],
    reason: "Node's own pipe reads the queued chunks of its source before it sees that the destination has ended",
    excuses: (_, ours) => /^\[+"fails: (TypeError|RangeError|enough)"/.test(ours),
  },
  {
    cells: /^a native pipeTo\(\).* an end of a TransformStream \| closing behind a write/,
    on: ["deno"],
    reason: "a transform of Deno's own is closed some microtasks sooner",
    excuses: (native, ours) => native === ours.replace("abort failed", "close"),
  },
  {
    cells: /^(getWriter\(\)|Writable\.fromWeb).* closing/,
    on: ["node"],
    plain: true,
    reason: "Node fails in an assertion of its own where a stream is written to while its side closes",
    excuses: (native, ours) => native.replace("TypeError", "Error") === ours,
  },
  {
    cells: /^addAbortSignal\(\) \| a byte stream/,
    on: ["node"],
    reason: "Node's function does nothing to a byte stream of its own",
    excuses: (_, ours) => ours.includes("AbortError"),
  },
  {
    cells: /^consumers\./,
    on: ["deno"],
    reason: "Deno has an error of another class for a locked stream of its own",
    excuses: (native, ours) => native === '"fails: Error"' && ours === '"fails: TypeError"',
  },
  {
    cells: /^(isDisturbed|isErrored)/,
    on: ["bun", "deno"],
    reason: "the runtime's own streams answer node:stream for less than Node's, as ours do",
  },
  {
    cells: /^inspect\(\).* a TextEncoderStream/,
    on: ["deno"],
    reason: "Deno shows its own whatever the depth",
  },
];

/** Cells in which the runtime's own code leaves a rejection or an error event of its own without a listener. */
export const unhandled: RegExp =
  /^(pipeline|compose|Readable\.compose).*(writable end locked|aborted|end cancelled|a writer|a pipe under way|that fails)/;

/** Cells in which a pipe of Node's own writes to a stream that has ended, and fails in an assertion without a listener. */
export const asserted: RegExp = isPlain
  ? /^a native pipeTo\(\) of (a body|.*closing|.*that never finishes \| closed \|)/
  : /^a native pipeTo\(\).*(a body preventCancel| that (never finishes|takes turns) \| (clos(ed|ing)|a pipe that has ended) \|)/;

/** Cells that Deno itself answers in two ways: not at all, once anything has loaded `node:worker_threads`. */
export const undecided: RegExp =
  /^structuredClone\(\), written to.*(clos|abort|errored|fails|failed|has ended|written, released)/;
