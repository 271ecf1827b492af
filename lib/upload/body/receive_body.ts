import { type Announced, announcedOf } from "./announced.ts";
import type { BodyReader } from "./body_reader.ts";
import { type BodySource, codingOf } from "./body_source.ts";
import { decodedBody } from "./decoded_body.ts";
import type { DigestAlgorithm } from "../../semantics/mod.ts";
import { MeteredBody } from "./metered_body.ts";
import { openBody } from "./open_body.ts";
import type { InnerOptions, ReceiveOptions } from "./save_options.ts";

const GIBIBYTE = 2 ** 30;

/** A body that comes in: within limits, verified, decoded. */
export interface ReceivedBody {
  readonly body: BodyReader;
  /** The digests of the body, once it is read to its end. */
  readonly digests: ReadonlyMap<DigestAlgorithm, string>;
}

/**
 * Begins to receive a body.
 *
 * @throws {UploadError} if what is announced of it is refused.
 * @throws {TypeError} if it is no body, or has been read.
 */
export function receiveBody(
  source: BodySource,
  options: ReceiveOptions & InnerOptions,
  announced: Announced = announcedOf(source, options),
): ReceivedBody {
  const metered = new MeteredBody(openBody(source, options), announced, options);
  const coding = options.decode ? codingOf(source) : undefined;
  if (coding === undefined) return { body: metered, digests: metered.digests };
  const { maxBytes = Infinity, maxDecodedBytes = maxBytes === Infinity ? GIBIBYTE : maxBytes } = options;
  try {
    const limit = Math.min(maxBytes, maxDecodedBytes);
    return { body: decodedBody(metered, coding, { maxBytes: limit }), digests: new Map() };
  } catch (error) {
    void metered.cancel(error);
    throw error;
  }
}
