import { type Announced, requireExpected } from "./announced.ts";
import type { StreamTaker } from "./body_sink.ts";
import type { BodySource } from "./body_source.ts";
import { Deadlines } from "./deadlines.ts";
import type { ReceiveOptions, SaveBodyOptions } from "./save_options.ts";
import { writeStream } from "../runtime/mod.ts";

/**
 * The stream of a body that nobody asks to look at while it is received: that of a request, if all that is to be known
 * of it is its length.
 */
export function unseenStream(
  source: BodySource,
  announced: Announced,
  options: SaveBodyOptions,
): ReadableStream<Uint8Array> | undefined {
  if (writeStream === undefined) return undefined;
  const { maxBytes = Infinity, onProgress, decode, digest } = options;
  if (!(source instanceof Request) || source.bodyUsed || !source.body || source.body.locked) return undefined;
  if (onProgress || decode || digest !== undefined || announced.digests.size > 0) return undefined;
  return announced.expectedBytes !== undefined || maxBytes === Infinity ? source.body : undefined;
}

/**
 * Writes a stream to a file, without a detour through JavaScript where the runtime can do that. It takes a tenth of the
 * memory that reading it takes on Bun, and half of the time.
 */
export async function transfer(
  stream: ReadableStream<Uint8Array>,
  sink: StreamTaker,
  announced: Announced,
  options: ReceiveOptions,
): Promise<number> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  let size = 0;
  let grownAt = performance.now();
  const silence = (): number => {
    const now = performance.now();
    if (sink.size() > size) {
      size = sink.size();
      grownAt = now;
    }
    return now - grownAt;
  };
  const deadlines = new Deadlines(options, silence, stop);
  try {
    const bytes = await Promise.race([sink.writeStream(stream), stopped]);
    requireExpected(bytes, announced);
    return bytes;
  } finally {
    deadlines.stop();
  }
}
