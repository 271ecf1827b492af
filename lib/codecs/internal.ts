/**
 * What our other folders build on. Not part of the public API.
 *
 * @module
 */
export { type ContentCoding, contentCodingNames, openContentDecoder } from "../semantics/content_decoder.ts";
export { Decoder, openDecoder } from "./decoder.ts";
export { Encoder, isEncoderLoaded, openEncoder } from "./encoder.ts";
