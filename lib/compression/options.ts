import { type Format, levels, ready } from "../codecs/mod.ts";
import { MediaRanges, storedCodings } from "../semantics/mod.ts";
import {
  anyOf,
  bytes,
  func,
  integer,
  listOf,
  type Member,
  member,
  nested,
  oneOf,
  schema,
  type SchemaOf,
  text,
} from "../streams/internal.ts";
import { Timer } from "../timers/mod.ts";
import { Dictionaries } from "./dictionaries/dictionaries.ts";
import { type DictionaryOptions, dictionaryOptions } from "./dictionaries/options.ts";

/** Returns a function that warns and never throws, so that the steps after a failure run. */
export function warningTo(onWarning: (reason: string) => void): (reason: string) => void {
  return (reason) => {
    try {
      onWarning(reason);
    } catch (error) {
      console.error(error);
    }
  };
}

export const warnOnConsole = (reason: string): void => console.warn(reason);

/** The interval in ms at which lateness is measured while responses are compressed. */
const PERIOD = 100;
/** The lateness in ms above which the event loop counts as late, until lateness falls below half of it. */
const HIGH_DELAY = 20;

/** The lateness of the event loop's timers, measured while `isLate()` is called regularly. */
export class EventLoopDelay {
  readonly #timer: Timer = new Timer((late) => this.#conclude(late), { keepsAlive: false });
  #wasAsked = false;
  #isLate = false;

  /** Whether the event loop was late when last measured. */
  isLate(): boolean {
    this.#wasAsked = true;
    if (!this.#timer.isSet) this.#measure();
    return this.#isLate;
  }

  #measure(): void {
    this.#wasAsked = false;
    this.#timer.start(PERIOD);
  }

  #conclude(late: number): void {
    this.#isLate = this.#wasAsked && late >= (this.#isLate ? HIGH_DELAY / 2 : HIGH_DELAY);
    if (this.#wasAsked) this.#measure();
  }
}

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
  /** Returns the value of a header field of the response, in any case, or undefined. */
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
   * The content codings to use, in order of preference among those that a client accepts with equal weight.
   *
   * @default ["zstd", "br", "gzip"]
   */
  codings?: readonly ("zstd" | "br" | "gzip")[];
  /**
   * The compression levels: zstd 1 to 22, brotli 0 to 11, gzip 1 to 12. Streamed bodies use lower levels to save much
   * memory: gzip at most 9, zstd 1 instead of 2 or 3, brotli 3 instead of 4.
   *
   * @default { zstd: 3, br: 3, gzip: 6 }
   */
  levels?: Partial<Record<"zstd" | "br" | "gzip", number>>;
  /**
   * Lowers levels under load: `"auto"` uses level 1 while the event loop is more than 20 ms late with its timers.
   *
   * @default the levels of `levels`, always
   */
  level?: "auto";
  /**
   * The length in bytes below which responses are sent uncompressed, if it is known before the first byte is sent.
   *
   * @default 1024
   */
  threshold?: number;
  /**
   * Further media types to compress, written as in `Accept`: `"application/x-tiles"` or `"model/*"`.
   *
   * @default those that the MIME database calls compressible, JSON lines, YAML, CBOR, Protocol Buffers and GraphQL
   */
  types?: string | readonly string[];
  /**
   * Returns whether a response may be compressed. Called only if all other conditions hold.
   *
   * @default all responses may be
   */
  filter?: (response: CompressibleResponse) => boolean;
  /**
   * The use of dictionaries that clients have (RFC 9842): former public responses, and templates of routes.
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

export type CompressionCoding = NonNullable<CompressionOptions["codings"]>[number];

export const formatOf: Readonly<Record<CompressionCoding, Format>> = {
  zstd: storedCodings.zstd.format,
  br: storedCodings.br.format,
  gzip: storedCodings.gzip.format,
};

export const levelOptions: SchemaOf<Partial<Record<CompressionCoding, number>>, CompressionCoding> =
  /* @__PURE__ */ schema("createCompression()", () => {
    const levelOf = (coding: CompressionCoding, fallback: number): Member<number, number> => {
      const { min, max } = levels[formatOf[coding]];
      return integer<number>(min, max, fallback);
    };
    return { zstd: levelOf("zstd", 3), br: levelOf("br", 3), gzip: levelOf("gzip", 6) };
  });

export const compressionOptions: SchemaOf<
  CompressionOptions & { levels?: Record<CompressionCoding, number>; dictionaries?: Required<DictionaryOptions> },
  "codings" | "levels" | "threshold" | "onWarning"
> = /* @__PURE__ */ schema("createCompression()", () => {
  const codings = ["zstd", "br", "gzip"] as const;
  return {
    codings: listOf(oneOf<CompressionCoding>(codings), "a list of codings", codings),
    levels: nested(levelOptions, levelOptions()),
    level: member<"auto">('"auto" (use levels for those of each coding)', (value) => value === "auto"),
    threshold: bytes(1024),
    types: anyOf([text(), listOf(text(), "a list of media types")]),
    filter: func<(response: CompressibleResponse) => boolean>(),
    dictionaries: nested(dictionaryOptions),
    onWarning: func<(reason: string) => void>(warnOnConsole),
  };
});

export interface Settings {
  readonly codings: readonly CompressionCoding[];
  readonly levels: Readonly<Record<CompressionCoding, number>>;
  readonly lateness: Pick<EventLoopDelay, "isLate"> | undefined;
  readonly threshold: number;
  /** Types to compress besides the default ones. */
  readonly types: MediaRanges | undefined;
  readonly filter: ((response: CompressibleResponse) => boolean) | undefined;
  readonly dictionaries: Dictionaries | undefined;
  readonly warn: (reason: string) => void;
}

/** @throws {TypeError | RangeError} if an option is unknown, of the wrong type or out of range. */
export function settingsOf(
  options: CompressionOptions,
  lateness: Settings["lateness"] = new EventLoopDelay(),
): Settings {
  const { codings, level, types, dictionaries, onWarning, ...others } = compressionOptions(options);
  return {
    ...others,
    codings: [...new Set(codings)],
    lateness: level === "auto" ? lateness : undefined,
    types: types === undefined ? undefined : new MediaRanges(types, "types"),
    dictionaries: dictionaries && new Dictionaries(dictionaries),
    warn: warningTo(onWarning),
  };
}

/** Loads the codecs of `settings`; warns of those that cannot be used here. */
export async function loadCodecs({ codings, warn }: Settings): Promise<void> {
  await loadEncoders(codings, formatOf, (coding, why) => warn(`responses are not compressed with ${coding}: ${why}`));
}

/** Loads the codecs of codings; `onFailure` is called with each that cannot be used here. */
export async function loadEncoders<Coding extends CompressionCoding>(
  codings: readonly Coding[],
  formats: Readonly<Record<Coding, Format>>,
  onFailure: (coding: Coding, reason: string) => void,
): Promise<void> {
  await Promise.all(codings.map(async (coding) => {
    await ready([formats[coding]], "compress").catch((error) => onFailure(coding, error.message));
  }));
}
