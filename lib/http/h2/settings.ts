import * as h2 from "./protocol.ts";

/** Identifiers of settings. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-6.5.2} */
const HEADER_TABLE_SIZE = 0x1;
const ENABLE_PUSH = 0x2;
const MAX_CONCURRENT_STREAMS = 0x3;
const INITIAL_WINDOW_SIZE = 0x4;
const MAX_FRAME_SIZE = 0x5;
const MAX_HEADER_LIST_SIZE = 0x6;

/** The advertised SETTINGS_MAX_FRAME_SIZE, in bytes: a large body takes half as many frames as with the default, 16,384. */
export const OUR_FRAME_SIZE = 32_768;

/** Returns the client's SETTINGS: identifier, value, and so on. */
export function ourSettings(streamWindow: number, maxHeaderSize: number): number[] {
  return [
    ...[ENABLE_PUSH, 0],
    ...[INITIAL_WINDOW_SIZE, streamWindow],
    ...[MAX_FRAME_SIZE, OUR_FRAME_SIZE],
    ...[MAX_HEADER_LIST_SIZE, maxHeaderSize],
  ];
}

export class PeerSettings {
  isKnown = false;
  headerTableSize = 4096;
  /** The smallest table size that the last frame passed through: a frame may have a setting twice. */
  leastTableSize = 4096;
  maxConcurrentStreams: number = Infinity;
  initialWindowSize: number = h2.DEFAULT_WINDOW;
  maxFrameSize: number = h2.DEFAULT_FRAME_SIZE;

  /** Reads a SETTINGS frame's payload. @throws {ConnectionFault} if a value is out of range. */
  read(chunk: Uint8Array, start: number, end: number): void {
    if ((end - start) % 6 !== 0) {
      const message = `the server sent SETTINGS of ${end - start} bytes, no multiple of 6`;
      throw new h2.ConnectionFault(h2.FRAME_SIZE_ERROR, message);
    }
    this.leastTableSize = this.headerTableSize;
    for (let at = start; at < end; at += 6) {
      this.#set((chunk[at] << 8) | chunk[at + 1], h2.readNumber(chunk, at + 2) >>> 0);
    }
    this.isKnown = true;
  }

  #set(identifier: number, value: number): void {
    if (identifier === HEADER_TABLE_SIZE) {
      this.headerTableSize = value;
      this.leastTableSize = Math.min(this.leastTableSize, value);
    } else if (identifier === MAX_CONCURRENT_STREAMS) {
      this.maxConcurrentStreams = value;
    } else if (identifier === INITIAL_WINDOW_SIZE) {
      if (value > h2.MAX_WINDOW) throw invalid(h2.FLOW_CONTROL_ERROR, "INITIAL_WINDOW_SIZE", value);
      this.initialWindowSize = value;
    } else if (identifier === MAX_FRAME_SIZE) {
      if (value < h2.DEFAULT_FRAME_SIZE || value > 0xffffff) throw invalid(h2.PROTOCOL_ERROR, "MAX_FRAME_SIZE", value);
      this.maxFrameSize = value;
    } else if (identifier === ENABLE_PUSH && value !== 0) {
      throw invalid(h2.PROTOCOL_ERROR, "ENABLE_PUSH", value);
    }
  }
}

function invalid(code: number, name: string, value: number): h2.ConnectionFault {
  return new h2.ConnectionFault(code, `the server's SETTINGS say ${name} ${value}, which is not allowed`);
}
