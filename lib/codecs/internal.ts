/** The parts of the codecs that other folders build on. Not part of the public API. @module */
export { Decoder, Encoder, encoderVersion, isEncoderLoaded, openDecoder, openEncoder } from "./by_hand.ts";
export { releaseIdleInstances } from "./module.ts";
export { counted, inTurn, isTurnOver, pump } from "./pump.ts";
export { type CodecFault, faultOf } from "./session.ts";
