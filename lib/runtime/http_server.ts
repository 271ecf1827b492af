import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

/** The part of Bun's server used here, the second argument of `fetch(request, server)`. */
interface BunServer {
  requestIP(request: Request): object | null;
}

/** Whether a request comes from Bun's own server, by the second argument of its `fetch()`: its chunks have no other owner. */
export function isFromBunServer(request: Request, server: unknown): boolean {
  const { requestIP } = (server ?? {}) as Partial<BunServer>;
  return typeof requestIP === "function" && (server as BunServer).requestIP(request) !== null;
}

/** Whether the server receives a body without limit after the response, unless that is a stream that fails (Deno). */
export const readsOnAfterAnswer: boolean = "Deno" in globalThis;

/** Whether the runtime's server buffers bytes beyond a read's chunk without limit (Deno). */
export const readsAheadOfChunks: boolean = "Deno" in globalThis;

/** Returns any number of Responses with the same content, in the cheapest way for the runtime. */
export class ReadyResponse {
  readonly #bytes: Uint8Array<ArrayBuffer> | undefined;
  #init: ResponseInit;
  #isReused = false;
  readonly #original: Response | undefined;

  /** @param hasRoomFor Whether a copy of `size` bytes may be kept. */
  constructor(bytes: Uint8Array<ArrayBuffer> | undefined, init: ResponseInit, hasRoomFor: (size: number) => boolean) {
    this.#bytes = bytes;
    // A new Response copies its bytes and checks its fields; clones share the bytes and copy the fields. Clones take
    // 0.9 of an answer's CPU time on Bun, and 0.7 on Deno. On Node, clones create a stream.
    this.#original = ("Deno" in globalThis || "Bun" in globalThis) && hasRoomFor(bytes?.length ?? 0)
      ? new Response(bytes, init)
      : undefined;
    this.#init = init;
  }

  make(): Response {
    if (this.#original) return this.#original.clone();
    // Headers take 0.75 of the time on Node and 0.4 on Bun, but creating them takes as long: they are created for the
    // second response. Deno is slower with them.
    if (this.#isReused && !("Deno" in globalThis) && !(this.#init.headers instanceof Headers)) {
      this.#init = { status: this.#init.status, headers: new Headers(this.#init.headers) };
    }
    this.#isReused = true;
    return new Response(this.#bytes, this.#init);
  }
}

/**
 * Writes the status and fields of a response, as names and values alternately, which must not change, since they may be
 * shared. On Node that is faster if no field was set before; Deno 2.4 would lose earlier fields.
 */
export const writeHead: (response: ServerResponse, status: number, fields: readonly string[]) => void =
  "Deno" in globalThis
    ? (response, status, fields) => void response.writeHead(status, byName(fields))
    : "Bun" in globalThis
    ? writeEach
    : (response, status, fields) => {
      if (response.getHeaderNames().length > 0) writeEach(response, status, fields);
      else response.writeHead(status, fields as string[]);
    };

function writeEach(response: ServerResponse, status: number, fields: readonly string[]): void {
  const values = byName(fields);
  for (const name in values) response.setHeader(name, values[name]!);
  response.writeHead(status);
}

const known = new WeakMap<readonly string[], OutgoingHttpHeaders>();

/** Returns the fields as an object, which is cached by the list: making it takes 2 µs. */
function byName(fields: readonly string[]): OutgoingHttpHeaders {
  const kept = known.get(fields);
  if (kept !== undefined) return kept;
  const all: Record<string, string[]> = Object.create(null);
  for (let i = 0; i < fields.length; i += 2) (all[fields[i]] ??= []).push(fields[i + 1]);
  const values = Object.fromEntries(Object.entries(all).map(([name, own]) => [name, own.length === 1 ? own[0] : own]));
  known.set(fields, values);
  return values;
}

/** The members that only some runtimes have; those for HTTP/2 differ. */
interface Informing {
  readonly stream?: Partial<ServerHttp2Stream>;
  writeInformation?(status: number, fields: Readonly<Record<string, string>>): void;
}

/** Whether a stream of HTTP/2 may receive no more of its request after an interim response between chunks (Deno 2.9). */
const stallsRequests = "Deno" in globalThis;

/** Sends an interim response (1xx) if the runtime supports it; HTTP/1.0 has none. Returns whether it was sent. */
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
    return false; // the connection has just ended, which its reader notices
  }
}
