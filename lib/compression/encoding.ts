import { type Encoder, openEncoder } from "../codecs/internal.ts";
import { compressSync } from "../codecs/mod.ts";
import { type CompressionCoding, formatOf, type Settings } from "./options.ts";

/** How streams are encoded. */
interface StreamLimits {
  /** log2 of the window in bytes. */
  readonly windowLog?: number;
  /** The highest level. */
  readonly level: number;
}

/** Pages and data that come in pieces: 0.35 to 0.85 MiB for each stream. Higher levels of gzip are for whole bodies. */
const PASSING: Readonly<Record<CompressionCoding, StreamLimits>> = {
  zstd: { windowLog: 16, level: 22 },
  br: { windowLog: 16, level: 11 },
  gzip: { level: 9 },
};

/** Streams of events, which stay open for hours, many at a time, and give little at once: 0.1 to 0.35 MiB each. */
const LASTING: Readonly<Record<CompressionCoding, StreamLimits>> = {
  zstd: { windowLog: 14, level: 1 },
  br: { windowLog: 16, level: 1 },
  gzip: { level: 6 },
};

/**
 * Opens an encoder for a body that comes in pieces. The codec has to be loaded.
 *
 * @param type The body's `Content-Type`.
 * @throws {RangeError} if memory runs out.
 */
export function openBodyEncoder({ levels }: Settings, coding: CompressionCoding, type: string | undefined): Encoder {
  const limits = type?.toLowerCase().startsWith("text/event-stream") ? LASTING : PASSING;
  const { windowLog, level } = limits[coding];
  return openEncoder(formatOf[coding], { level: Math.min(levels[coding], level), windowLog });
}

/**
 * Compresses a whole body in one call. The codec has to be loaded.
 *
 * @throws {RangeError} if memory runs out.
 */
export function encodeWhole(
  { levels }: Settings,
  coding: CompressionCoding,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return compressSync(bytes, { format: formatOf[coding], level: levels[coding] });
}

/** Returns what `encode` returns; undefined, with a warning, if it throws: the response is sent as it is then. */
export function unlessItFails<T>({ warn }: Settings, coding: CompressionCoding, encode: () => T): T | undefined {
  try {
    return encode();
  } catch (error) {
    warn(`a response is not compressed with ${coding}: ${(error as Error).message}`);
    return undefined;
  }
}
