/** Octets of a frame's header. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-4.1} */
export const FRAME_HEADER = 9;

/** Types of frames. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-6} */
export const DATA = 0x0;
export const HEADERS = 0x1;
export const PRIORITY = 0x2;
export const RST_STREAM = 0x3;
export const SETTINGS = 0x4;
export const PUSH_PROMISE = 0x5;
export const PING = 0x6;
export const GOAWAY = 0x7;
export const WINDOW_UPDATE = 0x8;
export const CONTINUATION = 0x9;

/** Flags; what they mean depends on the frame's type. */
export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const HAS_PRIORITY = 0x20;

/** The most that a window may be. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-6.9.1} */
export const MAX_WINDOW: number = 2 ** 31 - 1;
/** A window before anybody said otherwise. */
export const DEFAULT_WINDOW = 65_535;
/** The largest frame before anybody said otherwise, and the smallest limit allowed. */
export const DEFAULT_FRAME_SIZE = 16_384;
/** The highest stream there can be. */
export const MAX_STREAM: number = 2 ** 31 - 1;

const NAMES = [
  "DATA",
  "HEADERS",
  "PRIORITY",
  "RST_STREAM",
  "SETTINGS",
  "PUSH_PROMISE",
  "PING",
  "GOAWAY",
  "WINDOW_UPDATE",
  "CONTINUATION",
];

/** A frame's type in words, for messages. */
export function frameName(type: number): string {
  return NAMES[type] ?? `type ${type}`;
}
