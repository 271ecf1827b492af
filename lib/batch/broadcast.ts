import {
  anyOf,
  broadcastReadableStream,
  func,
  integer,
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
 * @example Tell a slow branch from a source that failed
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
 * The treatment of a branch of {@linkcode broadcast} whose queue is full: the others wait for it, it loses its oldest
 * chunks, or it fails.
 *
 * @example A choice by the branch's use
 * ```ts
 * import { broadcast, type SlowBranchPolicy } from "@millrace/streams/batch";
 * import { ReadableStream } from "@millrace/streams/streams";
 *
 * const mayLoseChunks = true;
 * const policy: SlowBranchPolicy = mayLoseChunks ? "drop" : "wait";
 * const branches = broadcast(ReadableStream.from([1, 2, 3]), { policy });
 * console.log(branches.length); // 2
 * ```
 */
export type SlowBranchPolicy = "wait" | "drop" | "error";

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
   * The number of branches to begin with.
   *
   * @default 2
   */
  branches?: number;
  /**
   * The size of a full branch's queue: in chunks, in bytes of a byte stream, or as `size` counts.
   *
   * @default 16 chunks, or 65,536 bytes of a byte stream
   */
  highWaterMark?: number;
  /**
   * The size of a chunk, as in a queuing strategy; called once for each chunk. A byte stream's is its bytes.
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
  policy?: SlowBranchPolicy;
  /** Called with `"drop"` for each lost chunk, the number of its branch, and how many that branch has lost so far. */
  onDrop?: (branch: number, dropped: number) => void;
  /**
   * The size of the newest chunks that are kept for `addBranch()`, in the unit of `highWaterMark`, of size 0 counted as 1;
   * Infinity keeps all.
   *
   * @default 0
   */
  replay?: number;
}

/**
 * The branches of a {@linkcode broadcast}, which more can join.
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
  /**
   * Makes another branch, which may begin with chunks that have passed. It follows the policy, but reads these from the
   * one copy that `replay` keeps, and counts as full where that would lose the next one it needs. A source that has
   * ended is replayed, too.
   *
   * @param from the first chunk: its number, from 0 on, or of a byte stream that of the byte; `"earliest"` is the oldest
   * that is kept, `"latest"` the next one to come.
   * @throws {RangeError} if that chunk is gone, so that there would be a gap, or is ahead of the stream.
   * @throws {TypeError} if the source was canceled, with its last branch, or `from` is of another type.
   */
  addBranch(from?: number | "earliest" | "latest"): ReadableStream<R>;
}

/** The maximum number of branches to begin with: they are made in one turn of the event loop. */
const MAX_BRANCHES = 65_536;

export const broadcastOptions: SchemaOf<BroadcastOptions, "branches" | "policy" | "replay"> = /* @__PURE__ */ schema(
  "broadcast()",
  () => ({
    branches: integer(1, MAX_BRANCHES, 2),
    highWaterMark: number(0, Infinity),
    size: func<(chunk: unknown) => number>(),
    policy: oneOf(["wait", "drop", "error"], "wait"),
    onDrop: func<(branch: number, dropped: number) => void>(),
    replay: number(0, Infinity, 0),
  }),
);

/** The parameters of `addBranch()`. */
const addBranchParameters = /* @__PURE__ */ schema(
  "addBranch()",
  () => ({ from: anyOf([integer(0, Number.MAX_SAFE_INTEGER), oneOf(["earliest", "latest"])]) }),
);

const HIGH_WATER_MARK = { chunks: 16, bytes: 65_536 };

/**
 * Makes branches of a stream that all get its chunks: a `tee()` for any number of readers, whose memory is bounded.
 *
 * No branch queues more than its high-water mark and one chunk. With the policy `"wait"` the source is read when all
 * branches have room, with the others when one of them has. A branch that is canceled leaves the others alone; when the
 * last one is canceled or has failed, the source is canceled with an array of all reasons. An error of the source goes
 * to every branch, and so does its end.
 *
 * Of a byte stream the branches are byte streams too, and each gets bytes of its own; other chunks are shared. The
 * source stays locked. Branches can join later, by `addBranch()` of what is returned: with `replay`, from where they like.
 *
 * @param stream a ReadableStream, of this package or native.
 * @returns the branches. What `size()` or `onDrop()` throws errors all of them and cancels the source.
 * @throws {TypeError} if `stream` is no ReadableStream or is locked, or an option is unknown or of the wrong type.
 * @throws {RangeError} if `branches` or `highWaterMark` is out of range.
 * @example Digest an upload while it is stored
 * ```ts
 * import { broadcast } from "@millrace/streams/batch";
 * import { createHash } from "node:crypto";
 *
 * const upload = new Response("a file, as it comes").body!;
 * const [stored, digested] = broadcast(upload, { highWaterMark: 1_048_576 });
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
  const { branches, highWaterMark, size, policy, onDrop, replay } = settings;
  if (policy !== "drop") refuseUnused(settings, ["onDrop"], 'needs policy: "drop": else nothing is dropped');
  const made = broadcastReadableStream(stream, {
    branches,
    highWaterMark: highWaterMark === undefined ? HIGH_WATER_MARK : { chunks: highWaterMark, bytes: highWaterMark },
    size,
    waits: policy === "wait",
    overflowError: policy === "error" ? (...args) => new SlowBranchError(...args) : undefined,
    onDrop,
    replay,
  });
  const value = (from: unknown = 0): object => made.addBranch(addBranchParameters.members.from.check(from, "from"));
  return Object.defineProperty(made.branches, "addBranch", { value }) as unknown as Branches<R>;
}
