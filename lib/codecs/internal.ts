/**
 * What our other folders build on. Not part of the public API.
 *
 * @module
 */
export { Decoder, openDecoder } from "./decoder.ts";
