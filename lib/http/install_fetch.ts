import { isRequest } from "./request/fetch_request.ts";
import type { HttpRequestInit } from "./request/http_request_init.ts";

type Fetch = (input: string | URL | Request, init?: HttpRequestInit) => Promise<Response>;

const OURS = new Set(["http", "https", "data", "blob"]);

/**
 * Makes a client's fetch the global one. URLs of schemes that it does not know, as `file:`, go to the one before.
 *
 * @returns what puts the one before back, unless another has taken the place meanwhile.
 */
export function installFetch(own: Fetch): () => void {
  const before = Object.getOwnPropertyDescriptor(globalThis, "fetch")!;
  const { fetch: other } = globalThis;
  // Asynchronous so that it never throws at once, whatever its arguments are.
  async function fetch(input: string | URL | Request, init?: HttpRequestInit): Promise<Response> {
    const url = isRequest(input) ? input.url : String(input);
    const scheme = /^[\0-\x20]*([a-z][a-z0-9+.-]*):/i.exec(url)?.[1].toLowerCase();
    return await (scheme === undefined || OURS.has(scheme) ? own(input, init) : other(input, init as RequestInit));
  }
  const { configurable, enumerable } = before;
  Object.defineProperty(globalThis, "fetch", { value: fetch, writable: true, configurable, enumerable });
  return () => {
    if (globalThis.fetch === fetch as unknown) Object.defineProperty(globalThis, "fetch", before);
  };
}
