import { setTimeout } from "node:timers";
import { type Format, levels, ready } from "../codecs/mod.ts";
import { storedCodings } from "../semantics/mod.ts";
import { requireKnown } from "../streams/internal.ts";
import { Dictionaries } from "./dictionaries/dictionaries.ts";
import type { DictionaryOptions } from "./dictionaries/options.ts";

/**
 * Returns a function that warns, and never throws: a warning comes where something fails, and what is left to do there has
 * to be done. Errors of `onWarning` are printed.
 */
export function warningTo(
  onWarning: (reason: string) => void = (reason) => console.warn(reason),
): (reason: string) => void {
  return (reason) => {
    try {
      onWarning(reason);
    } catch (error) {
      console.error(error);
    }
  };
}

/** The time in ms from one look at the clock to the next, while responses are compressed. */
const PERIOD = 100;
/** The lateness in ms from which the event loop is late. It is no longer when it is below half of that. */
const LATE = 20;

/** A clock in ms, and what has steps run after some ms. */
export interface Clock {
  now(): number;
  after(delay: number, steps: () => void): void;
}

const ours: Clock = {
  now: () => performance.now(),
  after: (delay, steps) => void setTimeout(steps, delay).unref(),
};

/** Measures how late the event loop is with its timers, as long as somebody asks. */
export class Lateness {
  readonly #clock: Clock;
  #isMeasuring = false;
  #wasAsked = false;
  #isLate = false;

  constructor(clock: Clock = ours) {
    this.#clock = clock;
  }

  /** Whether the event loop was late when last measured. */
  isLate(): boolean {
    this.#wasAsked = true;
    if (!this.#isMeasuring) this.#measure();
    return this.#isLate;
  }

  #measure(): void {
    this.#isMeasuring = true;
    this.#wasAsked = false;
    const due = this.#clock.now() + PERIOD;
    this.#clock.after(PERIOD, () => {
      const lateness = this.#clock.now() - due;
      this.#isLate = this.#wasAsked && lateness >= (this.#isLate ? LATE / 2 : LATE);
      if (this.#wasAsked) this.#measure();
      else this.#isMeasuring = false;
    });
  }
}

/**
 * A content coding that responses are compressed with, by its name in HTTP: RFC 8878, RFC 7932 and RFC 1952.
 *
 * @example Compress with gzip alone
 * ```ts
 * import { type CompressionCoding, createCompression } from "@millrace/streams/compression";
 *
 * const codings: CompressionCoding[] = ["gzip"];
 * const compression = createCompression({ codings });
 * ```
 */
export type CompressionCoding = "zstd" | "br" | "gzip";

/**
 * A response that is about to be sent, as {@linkcode CompressionOptions.filter} sees it.
 *
 * @example Leave pages with secrets alone
 * ```ts
 * import { type CompressibleResponse, createCompression } from "@millrace/streams/compression";
 *
 * const isPublic = ({ header }: CompressibleResponse): boolean => header("set-cookie") === undefined;
 * const compression = createCompression({ filter: isPublic });
 * ```
 */
export interface CompressibleResponse {
  /** The request's method, such as `GET`. */
  readonly method: string;
  /** The request's URL, as the server has it: absolute for a `Request`, a path for `node:http`. */
  readonly url: string;
  /** The status code. */
  readonly status: number;
  /** Returns the value of a header field of the response, in any case; undefined if there is none. */
  header(name: string): string | undefined;
}

/**
 * Options of {@linkcode createCompression}.
 *
 * @example Spend less time on each response
 * ```ts
 * import { type CompressionOptions, createCompression } from "@millrace/streams/compression";
 *
 * const options: CompressionOptions = { levels: { br: 2, gzip: 3 }, threshold: 4096 };
 * const compression = createCompression(options);
 * ```
 */
export interface CompressionOptions {
  /**
   * The codings to use; of those that a client likes equally well, the first is chosen.
   *
   * @default ["zstd", "br", "gzip"]
   */
  codings?: readonly CompressionCoding[];
  /**
   * How hard to try: zstd 1 to 22, brotli 0 to 11, gzip 1 to 12. Streamed bodies take
   * lower ones where that saves much memory: gzip 9 at most, zstd 1 for 2 and 3, brotli 3 for 4.
   *
   * @default { zstd: 3, br: 3, gzip: 6 }
   */
  levels?: Partial<Record<CompressionCoding, number>>;
  /**
   * With `"auto"`, responses are compressed at level 1 while the event loop is more than 20 ms late with its timers.
   *
   * @default as `levels` say, always
   */
  level?: "auto";
  /**
   * The length in bytes below which responses are sent as they are, if it is known before the first byte is sent.
   *
   * @default 1024
   */
  threshold?: number;
  /** Returns whether a response may be compressed. Asked only if everything else allows it. Default: all may. */
  filter?: (response: CompressibleResponse) => boolean;
  /**
   * Compresses with dictionaries that clients have (RFC 9842): former versions of public responses, and templates of
   * routes.
   *
   * @default none
   */
  dictionaries?: DictionaryOptions;
  /**
   * Called with the reason if responses are sent uncompressed because a codec cannot be used.
   *
   * @default console.warn
   */
  onWarning?: (reason: string) => void;
}

/** Checked options. */
export interface Settings {
  readonly codings: readonly CompressionCoding[];
  readonly levels: Readonly<Record<CompressionCoding, number>>;
  /** Tells when to try less hard. */
  readonly lateness: Pick<Lateness, "isLate"> | undefined;
  readonly threshold: number;
  readonly filter: ((response: CompressibleResponse) => boolean) | undefined;
  readonly dictionaries: Dictionaries | undefined;
  readonly warn: (reason: string) => void;
}

/** The codecs' names of the codings. */
export const formatOf: Readonly<Record<CompressionCoding, Format>> = {
  zstd: storedCodings.zstd.format,
  br: storedCodings.br.format,
  gzip: storedCodings.gzip.format,
};

const CODINGS: readonly CompressionCoding[] = ["zstd", "br", "gzip"];
const LEVELS: Readonly<Record<CompressionCoding, number>> = { zstd: 3, br: 3, gzip: 6 };
const KNOWN = {
  codings: true,
  levels: true,
  level: true,
  threshold: true,
  filter: true,
  dictionaries: true,
  onWarning: true,
};

/** @throws {TypeError | RangeError} if an option is not what it should be. */
export function settingsOf(
  options: CompressionOptions,
  lateness: Settings["lateness"] = new Lateness(),
): Settings {
  requireKnown(options, KNOWN, "createCompression()");
  const { codings = CODINGS, threshold = 1024, filter, onWarning } = options;
  if (!Array.isArray(codings)) throw new TypeError(`codings must be an array, not ${String(codings)}`);
  const other = codings.find((coding) => !CODINGS.includes(coding));
  if (other !== undefined) throw new TypeError(`"${String(other)}" is no coding to use: use ${CODINGS.join(", ")}`);
  if (options.level !== undefined && options.level !== "auto") {
    throw new TypeError(`level ${String(options.level)} is not "auto": use levels for those of each coding`);
  }
  if (typeof threshold !== "number" || !(threshold >= 0)) {
    throw new RangeError(`threshold ${String(threshold)} is not a number of bytes: use 0 or more`);
  }
  for (const [name, value] of Object.entries({ filter, onWarning })) {
    if (value !== undefined && typeof value !== "function") throw new TypeError(`${name} must be a function`);
  }
  return {
    codings: [...new Set(codings)],
    levels: checkedLevels(options.levels),
    lateness: options.level === "auto" ? lateness : undefined,
    threshold,
    filter,
    dictionaries: options.dictionaries && new Dictionaries(options.dictionaries),
    warn: warningTo(onWarning),
  };
}

function checkedLevels(given: CompressionOptions["levels"] = {}): Settings["levels"] {
  requireKnown(given, { zstd: true, br: true, gzip: true }, "levels");
  for (const coding of CODINGS) {
    const level = given[coding];
    const { min, max } = levels[formatOf[coding]];
    if (level === undefined || (Number.isInteger(level) && level >= min && level <= max)) continue;
    throw new RangeError(`level ${String(level)} is out of range for ${coding}: use ${min} to ${max}`);
  }
  return { ...LEVELS, ...given };
}

/** Loads the codecs of `settings`; a warning tells if one cannot be used here. */
export async function loadCodecs({ codings, warn }: Settings): Promise<void> {
  await Promise.all(codings.map(async (coding) => {
    try {
      await ready([formatOf[coding]], "compress");
    } catch (error) {
      warn(`responses are not compressed with ${coding}: ${(error as Error).message}`);
    }
  }));
}
