import {
  bool,
  bytes,
  bytesOf,
  integer,
  type Member,
  member,
  schema,
  type SchemaOf,
  signal,
  wrongType,
} from "../streams/internal.ts";
import { type Family, type Format, formats, traitsOf } from "./format.ts";

/**
 * Options of {@linkcode compress}, {@linkcode compressSync} and {@linkcode CompressionStream}.
 *
 * @example Compress for a browser that has the former version
 * ```ts
 * import { compress, type CompressOptions } from "@millrace/streams/codecs";
 * import { readFile } from "node:fs/promises";
 *
 * const page = await readFile("dist/index.html");
 * const options: CompressOptions = { format: "dcb", dictionary: await readFile("dist-deployed/index.html") };
 * console.log((await compress(page, options)).length < page.length / 2); // true
 * ```
 */
export interface CompressOptions {
  /** The format to write. */
  format: Format;
  /**
   * The compression level: brotli 0 to 11 (with a dictionary 5 to 11), zstd 1 to 22, the deflate formats 1 to 12
   * (streams use at most 9 of these).
   *
   * @default for whole bytes the best for build time, brotli 11, zstd 19 and deflate 12; for streams 5, 3 and 6
   */
  level?: number;
  /**
   * log2 of the window in bytes: brotli 10 to 24, zstd 10 to 27. Browsers refuse zstd windows above 23 (RFC 9659).
   *
   * @default chosen by the codec from level and size, for zstd at most 23
   */
  windowLog?: number;
  /** The dictionary for zstd and brotli, which the reader must have, too. Required by the formats `dcb` and `dcz`. */
  dictionary?: ArrayBufferView | ArrayBufferLike;
  /**
   * Whether zstd and `dcz` end with a checksum of the content (RFC 8878, section 3.1.1), 4 bytes, by which readers
   * detect damage, as the `zstd` command writes it; gzip and zlib always have a checksum, brotli and raw deflate never.
   *
   * @default false
   */
  checksum?: boolean;
  /** Stops {@linkcode compress} between blocks, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Options of {@linkcode decompress}, {@linkcode decompressSync} and {@linkcode DecompressionStream}.
 *
 * @example Refuse what would grow too large
 * ```ts
 * import { compress, decompress, type DecompressOptions } from "@millrace/streams/codecs";
 *
 * const bomb = await compress(new Uint8Array(1_000_000), { format: "gzip" });
 * const options: DecompressOptions = { format: "gzip", maxSize: 100_000 };
 * console.log(await decompress(bomb, options).catch((error) => error.name)); // RangeError
 * ```
 */
export interface DecompressOptions {
  /** The format to read. */
  format: Format;
  /**
   * The number of bytes above which decompression stops with a `RangeError`: the guard against small inputs that
   * decompress to huge outputs.
   *
   * @default Infinity
   */
  maxSize?: number;
  /**
   * The largest window in bytes that zstd and `dcz` data may require, 1024 to 134,217,728: a header of 9 bytes makes a
   * decoder allocate that much memory. A larger window is a `RangeError`. Windows of brotli and deflate are at most 16
   * MiB and 32 KiB.
   *
   * @default 8 MiB, as in browsers (RFC 9659); for `dcz` 1.25 times the dictionary if that is more (RFC 9842)
   */
  maxWindow?: number;
  /**
   * Whether zeros may follow gzip's last member, as in archives that fill blocks; the standard's streams refuse them.
   *
   * @default false
   */
  padding?: boolean;
  /** The dictionary that the data was compressed with. */
  dictionary?: ArrayBufferView | ArrayBufferLike;
  /** Stops {@linkcode decompress} between pieces, which then rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Options of {@linkcode CompressionStream}.
 *
 * @example Compress a file whose size is known
 * ```ts
 * import { CompressionStream, type CompressionStreamOptions } from "@millrace/streams/codecs";
 * import { openAsBlob } from "node:fs";
 *
 * const file = await openAsBlob("access.log");
 * const options: CompressionStreamOptions = { level: 6, size: file.size };
 * const small = await new Response(file.stream().pipeThrough(new CompressionStream("zstd", options))).bytes();
 * console.log(small.length < file.size); // true
 * ```
 */
export interface CompressionStreamOptions extends Omit<CompressOptions, "format" | "signal"> {
  /**
   * The number of bytes that will be written, if known: zstd and brotli choose better parameters then, and zstd records
   * it. A different number of bytes errors the stream.
   *
   * @default unknown
   */
  size?: number;
  /**
   * Whether each chunk can be decompressed as soon as it is written: for progressively rendered pages and for events.
   * Each flush costs a few bytes; join small chunks first, with `coalesceBytes()`.
   *
   * @default false: output comes in larger pieces
   */
  flush?: boolean;
}

/**
 * Options of {@linkcode DecompressionStream}.
 *
 * @example Read a delta with the version that it was made against
 * ```ts
 * import { compress, DecompressionStream, type DecompressionStreamOptions } from "@millrace/streams/codecs";
 *
 * const dictionary = new TextEncoder().encode("The mill turned all day long.");
 * const options: DecompressionStreamOptions = { dictionary, maxSize: 1_000_000 };
 * const delta = new Blob([await compress(dictionary, { format: "dcz", dictionary })]).stream();
 * const page = delta.pipeThrough(new DecompressionStream("dcz", options));
 * console.log(await new Response(page).text()); // The mill turned all day long.
 * ```
 */
export type DecompressionStreamOptions = Omit<DecompressOptions, "format" | "signal">;

const BYTES = "a Uint8Array, another view or an ArrayBuffer";

/** Returns a schema member for a view or a buffer, shared or not. */
function bytesMember(): Member<ArrayBufferView | ArrayBufferLike, undefined> {
  return { fallback: undefined, expected: BYTES, check: requireBytes };
}

function formatMember(): Member<Format, undefined> {
  const check = (format: unknown): Format => (traitsOf(format as Format), format as Format);
  return { fallback: undefined, expected: `one of ${formats.join(", ")}`, check };
}

function wholeNumber(): Member<number, undefined> {
  return member("a whole number", Number.isInteger, undefined, true);
}

/** Returns the options that all compressing functions share, except the format, on which their ranges depend. */
function compressMembers() {
  return { level: wholeNumber(), windowLog: wholeNumber(), dictionary: bytesMember(), checksum: bool(false) };
}

/** The range of windows that zstd's decoder can be limited to, and the limit of browsers (RFC 9659). */
const MIN_WINDOW = 2 ** 10;
const MAX_WINDOW = 2 ** 27;
const WEB_WINDOW = 2 ** 23;

/** Returns the options that all decompressing functions share, except the format. */
function decompressMembers() {
  return {
    maxSize: bytes(Infinity),
    maxWindow: integer(MIN_WINDOW, MAX_WINDOW),
    padding: bool(false),
    dictionary: bytesMember(),
  };
}

export const compressOptions: SchemaOf<CompressOptions, "checksum"> = /* @__PURE__ */ schema(
  "compress()",
  () => ({ format: formatMember(), ...compressMembers(), signal: signal() }),
);

export const decompressOptions: SchemaOf<DecompressOptions, "maxSize" | "padding"> = /* @__PURE__ */ schema(
  "decompress()",
  () => ({ format: formatMember(), ...decompressMembers(), signal: signal() }),
);

export const compressSyncOptions: SchemaOf<Omit<CompressOptions, "signal">, "checksum"> = /* @__PURE__ */ schema(
  "compressSync()",
  () => ({ format: formatMember(), ...compressMembers() }),
);

export const decompressSyncOptions: SchemaOf<Omit<DecompressOptions, "signal">, "maxSize" | "padding"> =
  /* @__PURE__ */ schema("decompressSync()", () => ({ format: formatMember(), ...decompressMembers() }));

export const compressionStreamOptions: SchemaOf<
  CompressionStreamOptions,
  "checksum" | "flush"
> = /* @__PURE__ */ schema("CompressionStream", () => ({
  ...compressMembers(),
  size: integer(0, 2 ** 53 - 1),
  flush: bool(false),
}));

export const decompressionStreamOptions: SchemaOf<DecompressionStreamOptions, "maxSize" | "padding"> =
  /* @__PURE__ */ schema("DecompressionStream", decompressMembers);

/** Checked options, as a codec session takes them. */
export interface SessionParameters {
  readonly format: Format;
  readonly family: Family;
  readonly direction: Direction;
  /** The format's number in its family's module. */
  readonly index: number;
  readonly level: number;
  /** log2 of the window in bytes for encoders, the largest window in bytes for decoders; 0 for the codec's choice. */
  readonly window: number;
  /** Total input in bytes; -1 if unknown. */
  readonly size: number;
  /** Whether all input comes at once. */
  readonly whole: boolean;
  /** Whether the output gets a checksum, if that is optional in the format; for gzip's decoder, the option `padding`. */
  readonly checksum: boolean;
  /** Whether a compressed stream should take little memory, for somewhat more bytes. */
  readonly lean: boolean;
  readonly dictionary: Uint8Array | undefined;
}

type Direction = "compress" | "decompress";

/** @throws {TypeError | RangeError} if an option is not what its format accepts. */
export function compressParameters(options: CompressOptions, size: number, whole: boolean): SessionParameters {
  const { format, dictionary, checksum = false } = options ?? {};
  const { family, levels, windowLogs } = traitsOf(format);
  const { level = whole ? levels.default : levels.stream, windowLog } = options;
  if (format === "brotli" && dictionary !== undefined) {
    // Below 5, the encoder ignores the dictionary.
    requireInteger("level", level, traitsOf("dcb").levels, "brotli with a dictionary");
  } else {
    requireInteger("level", level, levels, format);
  }
  if (windowLog !== undefined) {
    if (!windowLogs) throw new RangeError(`windowLog does not apply to ${format}: its window has 32 KiB`);
    requireInteger("windowLog", windowLog, windowLogs, format);
  }
  if (checksum && family !== "zstd") throw new TypeError(`checksum does not apply to ${format}: use zstd or dcz`);
  const common = parametersOf(format, "compress", dictionary, whole);
  return { ...common, level, window: windowLog ?? 0, size, checksum };
}

/** @throws {TypeError | RangeError} if an option is not what its format accepts. */
export function decompressParameters(options: DecompressOptions, whole: boolean): SessionParameters {
  const { format, dictionary, maxWindow, padding = false } = options ?? {};
  const common = parametersOf(format, "decompress", dictionary, whole);
  if (padding && format !== "gzip") throw new TypeError(`padding does not apply to ${format}: use gzip`);
  if (common.family !== "zstd") {
    if (maxWindow !== undefined) throw new RangeError(`maxWindow does not apply to ${format}: use zstd or dcz`);
    return { ...common, checksum: padding };
  }
  const overDictionary = format === "dcz" ? Math.floor(common.dictionary!.length * 1.25) : 0; // RFC 9842, section 5
  return { ...common, window: maxWindow ?? Math.min(Math.max(WEB_WINDOW, overDictionary), MAX_WINDOW) };
}

function parametersOf(
  format: Format,
  direction: Direction,
  dictionary: ArrayBufferView | ArrayBufferLike | undefined,
  whole: boolean,
): SessionParameters {
  const { family, index, dictionary: need } = traitsOf(format);
  const bytes = dictionary === undefined ? undefined : requireBytes(dictionary, "dictionary");
  if (need === "required" && !bytes?.length) {
    throw new TypeError(`${format} needs a dictionary: pass the bytes as dictionary`);
  }
  if (need === "none" && bytes) throw new TypeError(`a dictionary does not apply to ${format}: use zstd or brotli`);
  const usual = { level: 0, window: 0, size: -1, checksum: false, lean: false };
  return { ...usual, format, family, direction, index, whole, dictionary: bytes };
}

/** Copies the dictionary for a session that opens later, since the caller may change or transfer it before. */
export function owned(parameters: SessionParameters): SessionParameters {
  const { dictionary } = parameters;
  return dictionary ? { ...parameters, dictionary: new Uint8Array(dictionary) } : parameters;
}

/** @throws {TypeError} if `source` is neither a buffer, shared or not, nor a view on one, or is detached. */
export function requireBytes(source: unknown, name: string): Uint8Array {
  const bytes = bytesOf(source);
  if (bytes === undefined) throw wrongType(name, BYTES, source);
  return bytes;
}

function requireInteger(name: string, value: number, { min, max }: { min: number; max: number }, format: string): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new RangeError(`${name} ${value} is out of range for ${format}: use ${min} to ${max}`);
}
