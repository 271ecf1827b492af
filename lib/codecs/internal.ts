/**
 * The parts of the codecs that other folders build on. Not part of the public API.
 *
 * @module
 */
export { Decoder, openDecoder } from "./decoder.ts";
export { type CodecFault, faultOf } from "./session.ts";
export { encoderVersion } from "./encoder_version.ts";
export { releaseIdleInstances } from "./instance.ts";
export { Encoder, isEncoderLoaded, openEncoder } from "./encoder.ts";
