import assert from "node:assert/strict";
import {
  compress,
  CompressionStream,
  decompress,
  type Format,
  formats,
  levels as levelRanges,
} from "../../../lib/codecs/mod.ts";
import { traitsOf } from "../../../lib/codecs/format.ts";
import { concatenated, noise, sourceText } from "../../support/bytes.ts";
import { streamOf } from "../../support/streams.ts";
import { choices, cut, type Target } from "../target.ts";
import { requireAtOnce } from "./flushed.ts";
import { decompressNatively } from "./native_codecs.ts";

const dictionary = sourceText(2000, 7);
/** The best levels are slow: at most these for most inputs. */
const levels: Readonly<Record<string, number>> = { zstd: 12, dcz: 12, brotli: 9, dcb: 9 };

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return concatenated(parts);
}

/** Derives the encoder's options from the first bytes of an input. */
function optionsOf(
  input: Uint8Array,
): { format: Format; level: number; windowLog?: number; dictionary?: Uint8Array<ArrayBuffer> } {
  const [first = 0, second = 0, third = 0] = input;
  const format = formats[first % formats.length];
  const { windowLogs, dictionary: use } = traitsOf(format);
  const level = (format.startsWith("z") ? 1 : 0) + second % (levels[format] ?? 12);
  const windowLog = windowLogs && third % 4 === 0 ? 10 + (third >> 2) % 13 : undefined;
  const hasDictionary = use === "required" || (use === "optional" && third % 3 === 0);
  return {
    format,
    level: Math.max(level, hasDictionary && !format.includes("z") ? levelRanges.dcb.min : levelRanges[format].min),
    ...(windowLog === undefined ? {} : { windowLog }),
    ...(hasDictionary ? { dictionary } : {}),
  };
}

/** The first three bytes choose format, level, window and dictionary; the fourth, how often the rest is repeated. */
export const encoders: Target = {
  name: "encoders",
  what: "any bytes come back from every format, level, window and dictionary, whole and streamed, and twice the same",
  maxSize: 4000,

  seeds(): Uint8Array[] {
    const contents = [new Uint8Array(0), sourceText(800), noise(300), new Uint8Array(100)];
    return formats.flatMap((_, format) =>
      contents.map((content, i) => concatenated([Uint8Array.of(format, 5 * i, 3 * i, i), content]))
    );
  },

  async check(input): Promise<string> {
    const options = optionsOf(input);
    const random = choices(input);
    const content = input.slice(4);
    const times = 1 + (input[3] ?? 0) % 16 * (random.chance(0.1) ? 20 : 1);
    const bytes = concatenated(Array<Uint8Array>(times).fill(content));
    const { format, ...others } = options;
    const { dictionary } = others;
    const maxSize = bytes.length;
    const whole = await compress(bytes, options);
    const requireBack = async (small: Uint8Array<ArrayBuffer>, what: string): Promise<void> => {
      const back = await decompress(small, { format, dictionary, maxSize });
      assert.ok(back.length === bytes.length && back.every((byte, i) => byte === bytes[i]), `${what}: other bytes`);
      const native = dictionary === undefined ? decompressNatively(small, format, maxSize + 1) : back;
      if (native) assert.ok(Buffer.from(native).equals(bytes), `${what}: other bytes by the native decoder`);
    };
    await requireBack(whole, "whole");
    const again = await compress(bytes, options);
    assert.ok(Buffer.from(again).equals(whole), "not the same bytes twice");
    const size = random.chance(0.5) ? { size: bytes.length } : {};
    const pieces = cut(bytes, random);
    await requireBack(
      await collect(streamOf(pieces).pipeThrough(new CompressionStream(format, { ...others, ...size }))),
      "streamed",
    );
    if (dictionary === undefined && format !== "dcb" && format !== "dcz" && pieces.length < 100) {
      await requireAtOnce(pieces, format, others, new Uint8Array(random.pick([100, 16_384, 65_536])));
    }
    return `${format} ${options.level} ${whole.length < bytes.length / 2 ? "small" : "large"}`;
  },
};
