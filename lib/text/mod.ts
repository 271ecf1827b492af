/**
 * Lines and numbers, between bytes and what is made of them.
 *
 * @module
 */
export { LineStream, type LineStreamOptions } from "./line_stream.ts";
