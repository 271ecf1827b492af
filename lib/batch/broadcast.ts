import {
  broadcastReadableStream,
  func,
  integer,
  type Member,
  member,
  number,
  oneOf,
  refuseUnused,
  schema,
  type SchemaOf,
} from "../streams/internal.ts";
import type { ReadableStream } from "../streams/mod.ts";

/**
 * The error of a branch of {@linkcode broadcast} that read too slowly, with the policy `"error"`.
 *
 * @example Distinguish a slow branch from a failed source
 * ```ts
 * import { broadcast, SlowBranchError } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const source = ReadableStream.from([1, 2, 3, 4]);
 * const [fast, slow] = broadcast(source, { policy: "error", highWaterMark: 2 });
 * for await (const _ of fast);
 * const error = await slow.getReader().read().catch((error) => error);
 * if (error instanceof SlowBranchError) console.log(error.branch, error.highWaterMark); // 1 2
 * ```
 */
export class SlowBranchError extends Error {
  /** Always `"SlowBranchError"`. */
  override readonly name = "SlowBranchError";
  /** The number of the branch, from 0 on. */
  readonly branch: number;
  /** The limit that was reached, in chunks, or bytes of a byte stream: the high-water mark, or `replay` of a late branch. */
  readonly highWaterMark: number;

  /**
   * Makes the error.
   *
   * @param branch the number of the branch, from 0 on.
   * @param highWaterMark the limit that was reached.
   * @param option the option that sets that limit.
   */
  constructor(branch: number, highWaterMark: number, option: "highWaterMark" | "replay" = "highWaterMark") {
    super(
      `Branch ${branch} of the broadcast reads too slowly: what it has not read has reached the limit of ${highWaterMark}. ` +
        `Raise ${option}, or use the policy "wait" or "drop"`,
    );
    this.branch = branch;
    this.highWaterMark = highWaterMark;
  }
}

/**
 * Options of {@linkcode broadcast}.
 *
 * @example Three branches that keep the last ten readings
 * ```ts
 * import { broadcast, type BroadcastOptions } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const options: BroadcastOptions<number> = { branches: 3, highWaterMark: 10, policy: "drop" };
 * const [first] = broadcast(ReadableStream.from([20.1, 20.2]), options);
 * for await (const reading of first) console.log(reading); // 20.1, 20.2
 * ```
 */
export interface BroadcastOptions<R = unknown> {
  /**
   * The initial number of branches.
   *
   * @default 2
   */
  branches?: number;
  /**
   * Makes the branches byte streams, so that all options count bytes, even if the source is not a byte stream but a
   * stream of `Uint8Array`s, as bodies are on some runtimes.
   */
  type?: "bytes";
  /**
   * The size of a full branch's queue: in chunks, in bytes of a byte stream, or as `size` counts.
   *
   * @default 16 chunks, or 65,536 bytes of a byte stream
   */
  highWaterMark?: number;
  /**
   * Returns the size of a chunk, as in a queuing strategy; called once for each chunk. In a byte stream, the size is
   * always the number of bytes.
   *
   * @default 1 for each chunk
   */
  size?: (chunk: R) => number;
  /**
   * The treatment of a branch that is full: `"wait"` makes all branches wait for it, `"drop"` removes its oldest
   * chunks, and `"error"` errors it with a {@linkcode SlowBranchError}.
   *
   * @default "wait"
   */
  policy?: "wait" | "drop" | "error";
  /** Called for each chunk that `"drop"` drops, with the branch's number and the total of its dropped chunks. */
  onDrop?: (branch: number, dropped: number) => void;
  /**
   * The total size of the newest chunks that are kept for `addBranch()`, in the unit of `highWaterMark`; a chunk of
   * size 0 counts as 1. Infinity keeps all chunks.
   *
   * @default 0
   */
  replay?: number;
}

/**
 * The branches of a {@linkcode broadcast}, an array with a method that adds one.
 *
 * @example A reader that comes back, as after a lost connection
 * ```ts
 * import { broadcast } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const branches = broadcast(ReadableStream.from(["a", "b", "c", "d"]), { replay: 100 });
 * const [stored, shown] = branches;
 * for await (const token of shown) if (token === "b") break; // the reader has got two
 * const again = branches.addBranch(2);
 * const tokens: string[] = [];
 * const storing = Array.fromAsync(stored);
 * for await (const token of again) tokens.push(token);
 * console.log(tokens.join(), (await storing).join()); // c,d a,b,c,d
 * ```
 */
export interface Branches<R> extends Array<ReadableStream<R>> {
  /** The first branch. */
  0: ReadableStream<R>;
  /** The second branch, unless `branches` is 1. */
  1: ReadableStream<R>;
  /**
   * Adds a branch, which may begin with chunks that earlier branches have already got. The branch follows the policy,
   * but reads such chunks from the copy that `replay` keeps. It counts as full when that copy would drop the next chunk
   * that the branch needs. A source that has ended is replayed, too.
   *
   * @param from the number of the first chunk, or in a byte stream of the first byte, counted from 0; `"earliest"` is
   * the oldest kept chunk, `"latest"` the next one to arrive.
   * @throws {RangeError} if that chunk is no longer kept, or more chunks would have to arrive before it.
   * @throws {TypeError} if the source was canceled after its last branch was, or `from` is of another type.
   */
  addBranch(from?: number | "earliest" | "latest"): ReadableStream<R>;
}

/** The maximum of `branches`: all of them are created in one turn of the event loop. */
const MAX_BRANCHES = 65_536;

export const broadcastOptions: SchemaOf<BroadcastOptions, "branches" | "policy" | "replay"> = /* @__PURE__ */ schema(
  "broadcast()",
  () => ({
    branches: integer(1, MAX_BRANCHES, 2),
    type: oneOf(["bytes"]),
    highWaterMark: number(0, Infinity),
    size: func<(chunk: unknown) => number>(),
    policy: oneOf(["wait", "drop", "error"], "wait"),
    onDrop: func<(branch: number, dropped: number) => void>(),
    replay: number(0, Infinity, 0),
  }),
);

/** Returns the schema member for the parameter of `addBranch()`. */
function fromMember(): Member<number | "earliest" | "latest", undefined> {
  const accepts = (from: unknown): boolean =>
    from === "earliest" || from === "latest" || (Number.isSafeInteger(from) && (from as number) >= 0);
  return member('a whole number from 0, "earliest" or "latest"', accepts, undefined, true);
}

const HIGH_WATER_MARK = { chunks: 16, bytes: 65_536 };

/**
 * Splits a stream into branches that all get its chunks: a `tee()` for any number of readers, with bounded memory.
 *
 * No branch queues more than its high-water mark and one chunk. With the policy `"wait"` the source is read when all
 * branches have room; with the other policies, when any branch has room. A branch that is canceled leaves the others
 * alone; when the last one is canceled or has failed, the source is canceled with an array of all reasons. An error of
 * the source goes to every branch, and so does its end.
 *
 * The branches of a byte stream, or with `type: "bytes"`, are byte streams, each with its own copy of the bytes; other
 * chunks are shared. Give the type for a native stream of bytes, such as a body: only some runtimes make it a byte
 * stream, and elsewhere a limit without a unit errors the branches. The source stays locked. `addBranch()` of the result adds branches later, which can begin with earlier chunks if
 * `replay` keeps them.
 *
 * @param stream a ReadableStream, of this package or native.
 * @returns the branches. An exception of `size()` or `onDrop()` errors all of them and cancels the source.
 * @throws {TypeError} if `stream` is no ReadableStream or is locked, or an option is unknown or of the wrong type.
 * @throws {RangeError} if `branches` or `highWaterMark` is out of range.
 * @example Digest an upload while it is stored
 * ```ts
 * import { broadcast } from "@millrace/streams/batch";
 * import { createHash } from "node:crypto";
 *
 * const upload = new Response("a file, as it comes").body!;
 * const [stored, digested] = broadcast(upload, { type: "bytes", highWaterMark: 1_048_576 });
 * const hash = createHash("sha256");
 * const digest = (async () => {
 *   for await (const bytes of digested) hash.update(bytes);
 *   return hash.digest("hex");
 * })();
 * const [text, sha256] = await Promise.all([new Response(stored).text(), digest]);
 * console.log(text.length, sha256.length); // 19 64
 * ```
 */
export function broadcast<R>(
  stream: globalThis.ReadableStream<R>,
  options: BroadcastOptions<R> = {},
): Branches<R> {
  const settings = broadcastOptions(options);
  const { branches, type, highWaterMark, size, policy, onDrop, replay } = settings;
  if (type === "bytes") refuseUnused(settings, ["size"], 'cannot be used with type: "bytes", which counts bytes');
  if (policy !== "drop") refuseUnused(settings, ["onDrop"], 'needs policy: "drop": else nothing is dropped');
  const made = broadcastReadableStream(stream, {
    branches,
    type,
    isUnitOpen: type === undefined && size === undefined && (highWaterMark !== undefined || replay > 0),
    highWaterMark: highWaterMark === undefined ? HIGH_WATER_MARK : { chunks: highWaterMark, bytes: highWaterMark },
    size,
    waits: policy === "wait",
    overflowError: policy === "error" ? (...args) => new SlowBranchError(...args) : undefined,
    onDrop,
    replay,
  });
  const value = (from: unknown = 0): object => made.addBranch(fromMember().check(from, "from"));
  return Object.defineProperty(made.branches, "addBranch", { value }) as unknown as Branches<R>;
}
