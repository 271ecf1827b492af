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
  /** The high-water mark that was reached, in chunks, or bytes of a byte stream. */
  readonly highWaterMark: number;

  /**
   * Makes the error.
   *
   * @param branch the number of the branch, from 0 on.
   * @param highWaterMark the mark that was reached.
   */
  constructor(branch: number, highWaterMark: number) {
    super(
      `Branch ${branch} of the broadcast reads too slowly: its queue has reached the high-water mark of ${highWaterMark}. ` +
        'Raise highWaterMark, or use the policy "wait" or "drop"',
    );
    this.branch = branch;
    this.highWaterMark = highWaterMark;
  }
}
