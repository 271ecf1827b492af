import { type Announced, requireExpected } from "../body/announced.ts";
import type { StreamTaker } from "./body_sink.ts";
import { type BodySource, fieldOf } from "../body/body_source.ts";
import { Deadlines } from "../body/deadlines.ts";
import type { DigestAlgorithm } from "../../semantics/mod.ts";
import { FollowedFile } from "./followed_file.ts";
import type { InnerOptions, SaveBodyOptions } from "../body/save_options.ts";
import { writeStream } from "../../runtime/mod.ts";

/** The result of a transfer. */
export interface Transferred {
  readonly bytes: number;
  /** The digests that were asked for or announced. */
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
}

/**
 * The stream of a body that need not pass through JavaScript: what is to be known of it can be seen in the file.
 *
 * That file is looked at from time to time, so limits are only left to that if the body comes from a connection, as
 * its fields tell: while a stream of somebody's own is written that never waits, no timer fires.
 */
export function unseenStream(
  source: BodySource,
  announced: Announced,
  options: SaveBodyOptions,
): ReadableStream<Uint8Array> | undefined {
  if (writeStream === undefined || options.decode) return undefined;
  if (!(source instanceof Request) || source.bodyUsed || !source.body || source.body.locked) return undefined;
  const isFramed = fieldOf(source, "content-length") !== undefined || source.headers.has("transfer-encoding");
  const { maxBytes = Infinity, expectedBytes, onProgress, digest } = options;
  const isFree = maxBytes === Infinity && expectedBytes === undefined && !onProgress && digest === undefined &&
    announced.digests.size === 0;
  return isFramed || isFree ? source.body : undefined;
}

/**
 * Writes a stream to a file, without a detour through JavaScript where the runtime can do that. It takes a tenth of the
 * memory that reading it takes on Bun, and half of the time.
 */
export async function transfer(
  stream: ReadableStream<Uint8Array>,
  sink: StreamTaker,
  announced: Announced,
  options: SaveBodyOptions & InnerOptions,
): Promise<Transferred> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const file = new FollowedFile(sink, announced, options, stop);
  const deadlines = new Deadlines(options, file, stop);
  try {
    const bytes = await Promise.race([sink.writeStream(stream), stopped]);
    deadlines.stop();
    requireExpected(bytes, announced);
    return { bytes, digests: await Promise.race([file.finish(), stopped]) };
  } finally {
    deadlines.stop();
    file.stop();
  }
}
