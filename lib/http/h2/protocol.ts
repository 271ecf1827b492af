import { HttpError, type HttpErrorCode } from "../http_error.ts";

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

/** Flags; their meaning depends on the frame's type. */
export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;
export const HAS_PRIORITY = 0x20;

/** The maximum window. @see {@link https://www.rfc-editor.org/rfc/rfc9113#section-6.9.1} */
export const MAX_WINDOW: number = 2 ** 31 - 1;
/** The window before any SETTINGS. */
export const DEFAULT_WINDOW = 65_535;
/** The maximum frame before any SETTINGS, and the minimum of that setting. */
export const DEFAULT_FRAME_SIZE = 16_384;
/** The maximum stream id, and the mask of an id's bits in a frame. */
export const MAX_STREAM: number = 2 ** 31 - 1;

const FRAME_NAMES = "DATA HEADERS PRIORITY RST_STREAM SETTINGS PUSH_PROMISE PING GOAWAY WINDOW_UPDATE CONTINUATION"
  .split(" ");

export function frameName(type: number): string {
  return FRAME_NAMES[type] ?? `type ${type}`;
}

/** Reads 32 bits, of which the first is the sign. */
export function readNumber(chunk: Uint8Array, at: number): number {
  return (chunk[at] << 24) | (chunk[at + 1] << 16) | (chunk[at + 2] << 8) | chunk[at + 3];
}

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

const ERROR_NAMES =
  ("NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR " +
    "REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED")
    .split(" ");

function errorName(code: number): string {
  return ERROR_NAMES[code] ?? `0x${code.toString(16)}`;
}

/** An error whose `code` is the name of an HTTP/2 error, for `cause`. */
class Http2ErrorCause extends Error {
  readonly code: string;

  constructor(code: number, message: string) {
    super(message);
    this.code = errorName(code);
  }
}

/** Whether a server requires HTTP/1.1 instead of HTTP/2, according to the cause of an error. */
export function wantsHttp1({ cause }: Error): boolean {
  return cause instanceof Http2ErrorCause && cause.code === ERROR_NAMES[HTTP_1_1_REQUIRED];
}

/** A fault after which the connection cannot continue: the server violated the protocol or a limit. The session catches it and sends GOAWAY. */
export class ConnectionFault extends Http2ErrorCause {
  readonly number: number;

  constructor(number: number, message: string) {
    super(number, message);
    this.number = number;
  }
}

export function protocolFault(message: string): ConnectionFault {
  return new ConnectionFault(PROTOCOL_ERROR, message);
}

function failure(code: HttpErrorCode, number: number, message: string, origin: string): HttpError {
  return new HttpError(code, message, { origin, cause: new Http2ErrorCause(number, message) });
}

/** Returns the error of a request that the server reset (RST_STREAM), or refused without acting on it. */
export function resetError(origin: string, code: number, isUntouched: boolean): HttpError {
  const message = isUntouched
    ? `the server refused the request without acting on it (${errorName(code)})`
    : `the server gave the request up (${errorName(code)})`;
  return failure(isUntouched ? "REFUSED" : "RESET", code, message, origin);
}

/** Returns the error of a request that the server, by GOAWAY with debug data, will not process. */
export function goawayError(origin: string, code: number, debug: string): HttpError {
  const said = debug === "" ? errorName(code) : `${errorName(code)}, ${JSON.stringify(debug)}`;
  return failure("REFUSED", code, `the server closes the connection (${said}), and did not act on the request`, origin);
}

export function responseError(origin: string, code: number, message: string, isTooLarge: boolean): HttpError {
  const kind = isTooLarge ? "LIMIT_EXCEEDED" : "PROTOCOL_ERROR";
  return failure(kind, code, `the server's response cannot be used: ${message}`, origin);
}
