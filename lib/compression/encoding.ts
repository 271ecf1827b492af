import { crc32 } from "node:zlib";
import { type Encoder, openEncoder, releaseIdleInstances } from "../codecs/internal.ts";
import { compressSync, type Format, levels as ranges } from "../codecs/mod.ts";
import { nativeBrotli, nativeGzip, nativeZstd } from "../runtime/mod.ts";
import { Timer } from "../timers/mod.ts";
import { type CompressionCoding, formatOf, type Settings } from "./options.ts";
import type { Encoding } from "./policy.ts";

const HEADER_LENGTH = 10;
const TRAILER_LENGTH = 8;

/** Compresses whole bytes with gzip: the bytes of `compressSync()`, but with the runtime's checksum in a third of the time. */
export function gzipWhole(bytes: Uint8Array, level: number): Uint8Array<ArrayBuffer> {
  const deflated = compressSync(bytes, { format: "deflate-raw", level });
  const whole = new Uint8Array(HEADER_LENGTH + deflated.length + TRAILER_LENGTH);
  const effort = level < 2 ? 4 : level < 8 ? 0 : 2;
  // The header: deflate, no time, no system (RFC 1952, section 2.3).
  whole.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, effort, 255]);
  whole.set(deflated, HEADER_LENGTH);
  const trailer = new DataView(whole.buffer, HEADER_LENGTH + deflated.length);
  trailer.setUint32(0, crc32(bytes), true);
  trailer.setUint32(4, bytes.length, true);
  return whole;
}

/** The minimum time in ms after which the memory of idle codecs is released. */
const RELEASE_DELAY = 15_000;

const timer = new Timer(() => {
  if (releaseIdleInstances()) releaseIdleCodecs();
}, { keepsAlive: false });

/** Schedules the release of the memory of idle codecs. */
export function releaseIdleCodecs(): void {
  if (!timer.isSet) timer.start(RELEASE_DELAY);
}

/** The maximum bytes that are encoded in one call, in some 3 ms. */
export const MAX_WRITE_SIZE: number = 256 * 1024;

/** The length of pieces that a chunk is split into, in bytes or UTF-16 code units of up to 3 bytes each. */
const CHUNK_SIZE = 32 * 1024;

const utf8 = new TextEncoder();

/** A pending chunk: bytes in the producer's memory, or text that is encoded piece by piece. */
export class WaitingChunk implements Iterable<Uint8Array> {
  readonly #content: Uint8Array | string;
  /** The length in bytes, or of text in UTF-16 code units, which is at most its number of bytes. */
  readonly length: number;

  constructor(content: Uint8Array | string) {
    this.#content = content;
    this.length = content.length; // stored now: the producer may transfer its buffer
  }

  /** The bytes of the chunk; throws a TypeError if its buffer was transferred or shrunk since. */
  get bytes(): Uint8Array {
    const content = this.#content;
    if (typeof content === "string") return utf8.encode(content);
    if (content.length >= this.length) return content;
    throw new TypeError("a chunk's buffer was transferred before all of it was read");
  }

  /** Yields the chunk in pieces for an encoder's steps. */
  *[Symbol.iterator](): Generator<Uint8Array, undefined> {
    const content = this.#content;
    for (let start = 0, end = 0; start < this.length; start = end) {
      end = start + CHUNK_SIZE;
      if (typeof content === "string") {
        if (content.codePointAt(end - 1)! > 0xffff) end++; // keeps a surrogate pair together
        yield utf8.encode(content.slice(start, end));
      } else yield this.bytes.subarray(start, end);
    }
  }
}

export type BodyEncoder = Pick<Encoder, "steps" | "flush" | "finish" | "close">;

type StreamLimits = Readonly<Record<CompressionCoding, { readonly windowLog?: number; readonly level: number }>>;

/** The limits for pages and data that are streamed: 0.16 to 0.28 MiB for each stream. Whole bodies have none. */
const RESPONSE_LIMITS: StreamLimits = {
  zstd: { windowLog: 15, level: 22 },
  br: { windowLog: 15, level: 11 },
  gzip: { level: 9 },
};

/** The limits for event streams, which stay open for hours and send little: 0.1 to 0.24 MiB each. */
const EVENT_STREAM_LIMITS: StreamLimits = {
  zstd: { windowLog: 14, level: 1 },
  br: { windowLog: 16, level: 1 },
  gzip: { level: 6 },
};

/** The base coding, whose limits and levels apply to a coding. */
const BASE_CODING: Readonly<Record<Encoding["coding"], CompressionCoding>> = {
  zstd: "zstd",
  br: "br",
  gzip: "gzip",
  dcz: "zstd",
  dcb: "br",
};

/** Opens an encoder for a streamed body; its codec must be loaded. @throws {RangeError} if memory runs out. */
export function openBodyEncoder(settings: Settings, encoding: Encoding, type: string | undefined): BodyEncoder {
  const { coding, dictionary, recorder, length } = encoding;
  const limits = type?.toLowerCase().startsWith("text/event-stream") ? EVENT_STREAM_LIMITS : RESPONSE_LIMITS;
  const { windowLog, level } = limits[BASE_CODING[coding]];
  const encoder = openEncoder(formatIn(encoding), {
    level: streamLevel(coding, levelOf(settings, encoding, level)),
    // With a dictionary, the window must have room for the dictionary in addition.
    windowLog: dictionary === undefined
      ? windowLog
      : Math.min(Math.ceil(Math.log2(dictionary.length + 2 ** windowLog!)), MAX_WINDOW_LOG),
    dictionary,
    lean: true,
  });
  releaseIdleCodecs();
  return recorder === undefined && length === undefined ? encoder : watched(encoder, encoding);
}

/** Compresses a whole body by a loaded codec. @throws {RangeError} if memory runs out, or the body is too short. */
export function encodeWhole(settings: Settings, encoding: Encoding, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { coding, recorder } = encoding;
  requireLength(encoding, bytes.length);
  const level = levelOf(settings, encoding, Infinity);
  const small = wholeByRuntime(coding, level, bytes) ?? wholeByOurs(encoding, level, bytes);
  recorder?.write(bytes);
  recorder?.end();
  return small;
}

/** Compresses with the runtime's own codec, where that is faster than WebAssembly. */
function wholeByRuntime(coding: Encoding["coding"], level: number, bytes: Uint8Array) {
  if (coding === "gzip") return nativeGzip(bytes, level);
  if (coding === "br") return nativeBrotli(bytes, level, brotliWindowLog(bytes.length));
  return coding === "zstd" ? nativeZstd(bytes, level) : undefined;
}

function wholeByOurs(encoding: Encoding, level: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { coding, dictionary } = encoding;
  const windowLog = coding === "br" ? brotliWindowLog(bytes.length) : undefined;
  const small = coding === "gzip"
    ? gzipWhole(bytes, level)
    : compressSync(bytes, { format: formatIn(encoding), level, dictionary, windowLog });
  releaseIdleCodecs();
  return small;
}

/** Returns log2 of brotli's window for a whole body: the small one takes 0.85 of the time for the same output size. */
function brotliWindowLog(length: number): number {
  if (length <= 2 ** 18) return 18;
  return length <= 2 ** 22 ? 22 : 24;
}

function formatIn({ coding }: Encoding): Format {
  return coding === "dcz" || coding === "dcb" ? coding : formatOf[coding];
}

/** Returns the level for an encoding; brotli ignores dictionaries below level 5. */
function levelOf({ levels, lateness }: Settings, encoding: Encoding, most: number): number {
  const wanted = Math.min(levels[BASE_CODING[encoding.coding]], most, lateness?.isLate() ? LOW_LEVEL : Infinity);
  return Math.max(wanted, ranges[formatIn(encoding)].min);
}

/** The level while the event loop is late: gzip, brotli and zstd take 0.4, 0.5 and 0.8 of the time of their defaults. */
const LOW_LEVEL = 1;

/**
 * Lowers levels whose streams need much memory. Brotli 4 takes 275 KiB more than 3, for no fewer bytes if it is
 * flushed. Zstd 3 takes 700 KiB more than 1, and 2 takes 180 KiB more, for 3% fewer bytes.
 */
function streamLevel(coding: Encoding["coding"], level: number): number {
  if (BASE_CODING[coding] === "zstd" && level <= 3) return 1;
  return coding === "br" && level === 4 ? 3 : level;
}

/** 8 MiB: browsers refuse larger ones (RFC 9659). */
const MAX_WINDOW_LOG = 23;

/** Records the bytes that are encoded, and fails if the body ends too early. */
function watched(encoder: BodyEncoder, encoding: Encoding): BodyEncoder {
  const { recorder } = encoding;
  let seen = 0;
  function* watchedPieces(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
    for (const piece of pieces) {
      seen += piece.length;
      recorder?.write(piece);
      yield piece;
    }
  }
  return {
    steps: (pieces) => encoder.steps(watchedPieces(pieces)),
    flush: () => encoder.flush(),
    finish() {
      requireLength(encoding, seen);
      recorder?.end();
      return encoder.finish();
    },
    close() {
      recorder?.close();
      encoder.close();
    },
  };
}

/** Whether `seen` bytes are the whole body. A longer body is sent whole, such as that of a proxy that decodes. */
export function isWhole({ length }: Encoding, seen: number): boolean {
  return length === undefined || seen >= length;
}

function requireLength(encoding: Encoding, seen: number): void {
  const { length } = encoding;
  if (isWhole(encoding, seen)) return;
  throw new RangeError(`its body ends after ${seen} bytes, where Content-Length says ${length}`);
}

/** Returns the result of `encode`. If it throws, warns and returns undefined: the response is then sent uncompressed. */
export function unlessItFails<T>({ warn }: Settings, { coding }: Encoding, encode: () => T): T | undefined {
  try {
    return encode();
  } catch (error) {
    warn(`a response is not compressed with ${coding}: ${(error as Error).message}`);
    return undefined;
  }
}

/** Returns an encoder that opens with its first bytes, so that a stream without data takes no memory. */
export function lazyEncoder(open: () => BodyEncoder): BodyEncoder {
  let encoder: BodyEncoder | undefined;
  let isClosed = false;
  const opened = (): BodyEncoder | undefined => isClosed ? undefined : encoder ??= open();
  return {
    *steps(pieces) {
      yield* opened()?.steps(pieces) ?? [];
    },
    flush: () => encoder?.flush() ?? [],
    finish: () => opened()?.finish() ?? [],
    close() {
      isClosed = true;
      encoder?.close();
    },
  };
}
