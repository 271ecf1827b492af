import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ServerHttp2Stream } from "node:http2";

/** The part of Bun's server used here, which passes itself to `fetch(request, server)`. */
interface BunServer {
  requestIP(request: Request): object | null;
}

/** Whether a request comes from Bun's own server, by the second argument of its `fetch()`: its chunks are unshared. */
export function isFromBunServer(request: Request, server: unknown): boolean {
  const { requestIP } = (server ?? {}) as Partial<BunServer>;
  return typeof requestIP === "function" && (server as BunServer).requestIP(request) !== null;
}

/**
 * Whether the runtime's server receives without a limit after an answer, unless its stream fails, which cuts the
 * connection and which Deno prints.
 */
export const readsOnAfterAnswer: boolean = "Deno" in globalThis;

/** Whether the runtime's server holds, without a limit, bytes beyond the chunk that a read gives (Deno). */
export const readsAheadOfChunks: boolean = "Deno" in globalThis;

/** Gives any number of Responses of the same content, made the way that costs the runtime least. */
export class ReadyResponse {
  readonly #bytes: Uint8Array<ArrayBuffer> | undefined;
  #init: ResponseInit;
  #isReused = false;
  readonly #original: Response | undefined;

  /** @param hasRoomFor Whether a copy of so many bytes may be kept. */
  constructor(bytes: Uint8Array<ArrayBuffer> | undefined, init: ResponseInit, hasRoomFor: (size: number) => boolean) {
    this.#bytes = bytes;
    // A new Response copies its bytes and checks its fields; clones share the bytes and copy the fields. They take 0.9
    // of the CPU of an answer on Bun, 0.7 on Deno. On Node, clones make a stream.
    this.#original = ("Deno" in globalThis || "Bun" in globalThis) && hasRoomFor(bytes?.length ?? 0)
      ? new Response(bytes, init)
      : undefined;
    this.#init = init;
  }

  make(): Response {
    if (this.#original) return this.#original.clone();
    // Headers take 0.75 of the time on Node, 0.4 on Bun, but as long to make: for the second they are. Deno takes longer.
    if (this.#isReused && !("Deno" in globalThis) && !(this.#init.headers instanceof Headers)) {
      this.#init = { status: this.#init.status, headers: new Headers(this.#init.headers) };
    }
    this.#isReused = true;
    return new Response(this.#bytes, this.#init);
  }
}

/**
 * Writes the status and fields of a response, as names and values in turn, which must not change: they may be shared.
 * Node is faster so if no field was set before; Deno 2.4 would lose them.
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

/** Returns the fields as an object, which is cached with them: it takes 2 µs to make. */
function byName(fields: readonly string[]): OutgoingHttpHeaders {
  const kept = known.get(fields);
  if (kept !== undefined) return kept;
  const all: Record<string, string[]> = Object.create(null);
  for (let i = 0; i < fields.length; i += 2) (all[fields[i]] ??= []).push(fields[i + 1]);
  const values = Object.fromEntries(Object.entries(all).map(([name, own]) => [name, own.length === 1 ? own[0] : own]));
  known.set(fields, values);
  return values;
}

/** The members that only some runtimes have, with others for HTTP/2. */
interface Informing {
  readonly stream?: Partial<ServerHttp2Stream>;
  writeInformation?(status: number, fields: Readonly<Record<string, string>>): void;
}

/** Whether a stream of HTTP/2 may get no more of its request after an interim response between chunks (Deno 2.9). */
const stallsRequests = "Deno" in globalThis;

/** Sends an interim response (1xx) if the runtime can; HTTP/1.0 has none. Returns whether it was sent. */
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
    return false; // the connection has just ended, which its reader learns
  }
}
