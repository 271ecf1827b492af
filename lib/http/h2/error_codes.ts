/** Error codes of RST_STREAM and GOAWAY. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-7} */
export const NO_ERROR = 0x0;
export const PROTOCOL_ERROR = 0x1;
export const INTERNAL_ERROR = 0x2;
export const FLOW_CONTROL_ERROR = 0x3;
export const STREAM_CLOSED = 0x5;
export const FRAME_SIZE_ERROR = 0x6;
export const REFUSED_STREAM = 0x7;
export const CANCEL = 0x8;
export const COMPRESSION_ERROR = 0x9;
export const ENHANCE_YOUR_CALM = 0xb;
export const HTTP_1_1_REQUIRED = 0xd;

const NAMES = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/** An error code as the standard calls it; unknown ones in hexadecimal. */
export function errorName(code: number): string {
  return NAMES[code] ?? `0x${code.toString(16)}`;
}

/** An error whose `code` is the name of an HTTP/2 error, for `cause`. */
export class Http2ErrorCause extends Error {
  /** The error's name in the standard, such as `ENHANCE_YOUR_CALM`. */
  readonly code: string;

  /**
   * Makes an error.
   *
   * @param code The number in the frame, or ours.
   * @param message The same in words.
   */
  constructor(code: number, message: string) {
    super(message);
    this.code = errorName(code);
  }
}

/** Whether a server wants HTTP/1.1 in the place of HTTP/2, as the cause of an error has it. */
export function wantsHttp1({ cause }: Error): boolean {
  return cause instanceof Http2ErrorCause && cause.code === NAMES[HTTP_1_1_REQUIRED];
}

/** The connection cannot go on: what the server sent makes no sense, or is too much. Caught by the session, which says GOAWAY. */
export class ConnectionFault extends Http2ErrorCause {
  /** The error code for GOAWAY. */
  readonly number: number;

  /**
   * Makes a fault.
   *
   * @param number The error code of GOAWAY.
   * @param message The same in words.
   */
  constructor(number: number, message: string) {
    super(number, message);
    this.number = number;
  }
}
