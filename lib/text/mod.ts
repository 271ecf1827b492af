/**
 * Streams that convert text to lines, JSON lines and CSV to records and back, and lines to numbers and back. Each chunk
 * is one item, and numbers need no intermediate strings.
 *
 * @example Numbers, parsed and written again
 * ```ts
 * import { ReadableStream } from "@millrace/streams/streams";
 * import { LineToNumberStream, NumberToLineStream } from "@millrace/streams/text";
 *
 * const bytes = ReadableStream.from([new TextEncoder().encode("007\n8"), new TextEncoder().encode(".50\n")]);
 * const lines = bytes.pipeThrough(new LineToNumberStream()).pipeThrough(new NumberToLineStream());
 * console.log(JSON.stringify(await new Response(lines).text())); // "7\n8.5\n"
 * ```
 *
 * @module
 */
export type { InvalidLine } from "./number_parser.ts";
export { CsvDecoderStream, type CsvDecoderStreamOptions } from "./csv_decoder_stream.ts";
export { CsvEncoderStream, type CsvEncoderStreamOptions } from "./csv_encoder_stream.ts";
export type { CsvMismatch } from "./csv_records.ts";
export { type InvalidJsonLine, JsonLineStream, type JsonLineStreamOptions } from "./json_line_stream.ts";
export { JsonLinesEncoderStream } from "./json_lines_encoder_stream.ts";
export { LineStream, type LineStreamOptions } from "./line_stream.ts";
export { LineToNumberStream, type LineToNumberStreamOptions } from "./line_to_number_stream.ts";
export { NumberToLineStream } from "./number_to_line_stream.ts";
