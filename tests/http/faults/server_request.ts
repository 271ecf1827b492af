import type { Socket } from "node:net";

/** A request as the server sees it, in either protocol. */
export interface ServerRequest {
  readonly method: string;
  readonly path: string;
  /** Header fields by their lower-case names. */
  readonly fields: ReadonlyMap<string, string>;
  readonly socket: Socket;
  /** The received part of the body, in bytes. */
  readonly received: number;
  /** The sum of the body's bytes so far: enough to see that none was changed. */
  readonly sum: number;
  /** Fields that came after the body, by their lower-case names. */
  readonly trailers: ReadonlyMap<string, string>;
  /** Whether the body was received to its end. */
  readonly isWhole: boolean;
  /** Whether the client or the connection has given it up. */
  readonly isGone: boolean;
  /** The part of the response that waits for the client to take it, in bytes. */
  readonly backlog: number;
  /** Called with the body's bytes as they come. */
  onBytes: ((bytes: Uint8Array) => void) | undefined;
  /** Called once the body is whole. */
  onWhole: (() => void) | undefined;
  /** Called once, if the client or the connection gives it up before the response has ended. */
  onGone: (() => void) | undefined;
  /** Whether the client's window is no longer extended for its body. */
  isHolding: boolean;
  /** An informational response. */
  inform(status: number, fields?: Readonly<Record<string, string>>): void;
  head(status: number, fields?: Readonly<Record<string, string>>): void;
  /** Sent as the client has room for it; not copied. */
  data(bytes: Uint8Array): void;
  /** @param trailers Sent after the body, which must have no length in HTTP/1.1. */
  end(trailers?: Readonly<Record<string, string>>): void;
  /** Resets the request: RST_STREAM with a code, in HTTP/1.1 the end of the socket. */
  reset(code: number): void;
}

/** The whole response in one. */
export function respond(
  request: ServerRequest,
  status: number,
  body: Uint8Array,
  fields?: Record<string, string>,
): void {
  request.head(status, { ...fields, "content-length": String(body.length) });
  if (body.length > 0 && request.method !== "HEAD") request.data(body);
  request.end();
}

/** Calls `act` once the request's body is whole, at once if it is; never if it is given up before. */
export function whenWhole(request: ServerRequest, act: () => void): void {
  if (request.isWhole) act();
  else request.onWhole = act;
}
