/**
 * Lines and numbers, between bytes and what is made of them.
 *
 * @module
 */
export type { InvalidLine, InvalidLineReason, OnInvalidLine } from "./invalid_line.ts";
export { LineStream, type LineStreamOptions } from "./line_stream.ts";
export { LineToNumberStream, type LineToNumberStreamOptions } from "./line_to_number_stream.ts";
export type { InvalidNumber, OnInvalidNumber } from "./number_formatter.ts";
export { NumberToLineStream, type NumberToLineStreamOptions } from "./number_to_line_stream.ts";
