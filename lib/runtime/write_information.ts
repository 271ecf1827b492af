import type { ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

/** The members that some runtimes have, and on HTTP/2 others. */
interface Informing {
  readonly stream?: Partial<ServerHttp2Stream>;
  writeInformation?(status: number, fields: Readonly<Record<string, string>>): void;
}

/**
 * Whether a stream of HTTP/2 that sends an interim response may get nothing more of its request: on Deno 2.9, nothing
 * that comes after it, unless it is sent while a chunk is being handed over.
 */
const stallsRequests = "Deno" in globalThis;

/**
 * Sends an interim response (1xx) ahead of the one that is to come, where the runtime can do that; HTTP/1.0 has none.
 *
 * @returns whether it was sent.
 */
export function writeInformation(
  response: ServerResponse,
  status: number,
  fields: Readonly<Record<string, string>>,
): boolean {
  const { stream } = response as unknown as Informing;
  if (response.headersSent || response.destroyed) return false;
  try {
    if (stream !== undefined) {
      if (stallsRequests || stream.destroyed || typeof stream.additionalHeaders !== "function") return false;
      stream.additionalHeaders({ ":status": status, ...fields });
      return true;
    }
    const { writeInformation } = response as unknown as Informing;
    if (writeInformation === undefined || response.req.httpVersion === "1.0") return false;
    writeInformation.call(response, status, fields);
    return true;
  } catch {
    return false; // the connection has just ended, which whoever reads from it learns
  }
}
