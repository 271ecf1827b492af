import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { BodySource } from "../body/body_source.ts";

/** A request, from whichever kind of server. */
export interface Incoming {
  readonly method: string;
  /** As it came, or what a router left of it. */
  readonly target: string;
  /** The part of the sender's URL before `target`: the path that a router took off, or nothing. */
  readonly mount: string;
  /** With fields and body. */
  readonly source: Request | IncomingMessage;
}

/**
 * Asks the sender for the body of a request that is welcome, if it waits for that, and gives it.
 *
 * @throws {TypeError} if somebody else has read it.
 */
export type OpenBody = () => BodySource;

/** The path of a request without its query, as it came. */
export function pathOf({ target }: Incoming): string {
  return target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "");
}

/** All fields of a request. */
export function headersOf({ source }: Incoming): Headers {
  if (typeof source.headers.get === "function") return new Headers(source.headers as Headers);
  const headers = new Headers();
  for (const [name, value] of Object.entries(source.headers as IncomingHttpHeaders)) {
    if (name.startsWith(":")) continue; // of HTTP/2, and no field
    for (const line of [value ?? []].flat()) headers.append(name, line);
  }
  return headers;
}
