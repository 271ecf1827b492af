import { csvDecoderStreamOptions } from "../../../lib/text/csv_decoder_stream.ts";
import { csvEncoderStreamOptions } from "../../../lib/text/csv_encoder_stream.ts";
import { jsonLineStreamOptions } from "../../../lib/text/json_line_stream.ts";
import { lineStreamOptions } from "../../../lib/text/line_stream.ts";
import { lineToNumberStreamOptions } from "../../../lib/text/line_to_number_stream.ts";
import * as text from "../../../lib/text/mod.ts";
import type { Taker } from "../taker.ts";

export const takers: readonly Taker[] = [
  {
    schema: csvDecoderStreamOptions,
    options: "CsvDecoderStreamOptions",
    take: (options) => new text.CsvDecoderStream(options),
  },
  {
    schema: csvEncoderStreamOptions,
    options: "CsvEncoderStreamOptions",
    take: (options) => new text.CsvEncoderStream(options),
  },
  {
    schema: jsonLineStreamOptions,
    options: "JsonLineStreamOptions",
    take: (options) => new text.JsonLineStream(options),
  },
  { schema: lineStreamOptions, options: "LineStreamOptions", take: (options) => new text.LineStream(options) },
  {
    schema: lineToNumberStreamOptions,
    options: "LineToNumberStreamOptions",
    take: (options) => new text.LineToNumberStream(options),
  },
];
