/**
 * A compressed format. `zstd` (RFC 8878), `brotli` (RFC 7932), `gzip` (RFC 1952), `deflate` (zlib, RFC 1950),
 * `deflate-raw` (RFC 1951); `dcb` and `dcz` are brotli and zstd against a dictionary, with the header that names it
 * (RFC 9842).
 *
 * @example Choose by what the reader accepts
 * ```ts
 * import { compress, type Format } from "@millrace/streams/codecs";
 *
 * const accepted = "gzip, deflate, br, zstd";
 * const format: Format = /\bzstd\b/.test(accepted) ? "zstd" : "gzip";
 * const small = await compress(new Uint8Array(1000), { format, level: 3 });
 * console.log(format, small.length < 100); // zstd true
 * ```
 */
export type Format = "zstd" | "brotli" | "gzip" | "deflate" | "deflate-raw" | "dcb" | "dcz";

/** The codec families; each has one WASM module that encodes and one that decodes. */
export type Family = "brotli" | "zstd" | "deflate";

/** The range of compression levels of a format, and its defaults. */
type LevelRange = (typeof levels)[Format];

/** The properties of a format: its family, its number in that family's module, and the parameters it accepts. */
interface Traits {
  readonly family: Family;
  readonly index: number;
  readonly levels: LevelRange;
  /** log2 of the window in bytes, where it can be chosen. */
  readonly windowLogs?: { readonly min: number; readonly max: number };
  readonly dictionary: "required" | "optional" | "none";
}

const BROTLI_LEVELS: LevelRange = { min: 0, max: 11, default: 11, stream: 5 };
/** The levels of `dcb`: below 5, the encoder ignores the dictionary. */
const DCB_LEVELS: LevelRange = { min: 5, max: 11, default: 11, stream: 5 };
const ZSTD_LEVELS: LevelRange = { min: 1, max: 22, default: 19, stream: 3 };
const DEFLATE_LEVELS: LevelRange = { min: 1, max: 12, default: 12, stream: 6 };
const BROTLI_WINDOWS = { min: 10, max: 24 };
const ZSTD_WINDOWS = { min: 10, max: 27 };

/** The properties of each format, in the order of {@linkcode formats}. */
const traits: Readonly<Record<Format, Traits>> = {
  zstd: { family: "zstd", index: 0, levels: ZSTD_LEVELS, windowLogs: ZSTD_WINDOWS, dictionary: "optional" },
  brotli: { family: "brotli", index: 0, levels: BROTLI_LEVELS, windowLogs: BROTLI_WINDOWS, dictionary: "optional" },
  gzip: { family: "deflate", index: 0, levels: DEFLATE_LEVELS, dictionary: "none" },
  deflate: { family: "deflate", index: 1, levels: DEFLATE_LEVELS, dictionary: "none" },
  "deflate-raw": { family: "deflate", index: 2, levels: DEFLATE_LEVELS, dictionary: "none" },
  dcb: { family: "brotli", index: 1, levels: DCB_LEVELS, windowLogs: BROTLI_WINDOWS, dictionary: "required" },
  dcz: { family: "zstd", index: 1, levels: ZSTD_LEVELS, windowLogs: ZSTD_WINDOWS, dictionary: "required" },
};

/**
 * Every {@linkcode Format}, in a fixed order.
 *
 * @example Check what a user asks for
 * ```ts
 * import { type Format, formats } from "@millrace/streams/codecs";
 *
 * const isFormat = (text: string): text is Format => (formats as readonly string[]).includes(text);
 * console.log(isFormat("zstd"), isFormat("br")); // true false
 * ```
 */
export const formats: readonly Format[] = Object.keys(traits) as Format[];

/**
 * The levels of each format.
 *
 * @example Ask for the best level there is
 * ```ts
 * import { compress, levels } from "@millrace/streams/codecs";
 *
 * const bytes = new TextEncoder().encode("water under the wheel, ".repeat(100));
 * const small = await compress(bytes, { format: "zstd", level: levels.zstd.max });
 * console.log(levels.zstd.max, small.length < 100); // 22 true
 * ```
 */
export const levels: Readonly<
  Record<Format, {
    /** The fastest level. */
    readonly min: number;
    /** The level that compresses best. */
    readonly max: number;
    /** The default for whole bytes, meant for builds: output is made once and downloaded often. */
    readonly default: number;
    /** The default for streams, meant for data that a reader waits for. */
    readonly stream: number;
  }>
> = Object.fromEntries(formats.map((format) => [format, traits[format].levels])) as Record<Format, LevelRange>;

/** @throws {TypeError} if `format` is not one of {@linkcode formats}. */
export function traitsOf(format: Format): Traits {
  if (typeof format !== "string" || !Object.hasOwn(traits, format)) {
    throw new TypeError(`unknown format "${String(format)}": use one of ${formats.join(", ")}`);
  }
  return traits[format];
}
