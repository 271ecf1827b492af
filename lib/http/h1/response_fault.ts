/** A response that is not HTTP/1.1 as the standards have it, or larger than our limits. The connection makes an HttpError of it. */
export class ResponseFault extends Error {
  /** The code of the caller's HttpError. */
  readonly code: "PROTOCOL_ERROR" | "LIMIT_EXCEEDED";

  /** Makes one; the message goes on after the origin's name and a colon. */
  constructor(code: "PROTOCOL_ERROR" | "LIMIT_EXCEEDED", message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns the error for bytes that are not HTTP/1.1; its message shows the first of them. */
export function malformed(what: string, found: string): ResponseFault {
  const shown = found.length > 60 ? `${found.slice(0, 60)}…` : found;
  return new ResponseFault("PROTOCOL_ERROR", `${what}: ${JSON.stringify(shown)}`);
}
