import { Buffer } from "node:buffer";
import { connect } from "node:net";

/** The time limit of a response, in ms. */
const LIMIT = 60_000;

/** A response, parsed here so that no client's leniency hides a fault. */
export interface RawAnswer {
  readonly status: number;
  /** The fields by lower-case name; lines with the same name are joined with ", ". */
  readonly fields: ReadonlyMap<string, string>;
  /** Out of its chunked coding, if it had one. */
  readonly body: Uint8Array;
  /** The received bytes as text, one character a byte. */
  readonly all: string;
}

/** Returns a request's bytes: `lines` follow the request line; every character is the byte of its code. */
export function requestBytes(method: string, target: string, lines: readonly string[] = []): Uint8Array {
  const head = [`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...lines, "Connection: close", "", ""];
  return Buffer.from(head.join("\r\n"), "latin1");
}

/**
 * Sends bytes on a connection of their own, and gives what comes back until the server ends it; undefined if that is
 * nothing at all.
 *
 * @throws {Error} if what comes back is no HTTP/1.1 message, or its body is not as long as it says.
 */
export async function exchange(port: number, request: Uint8Array, method = "GET"): Promise<RawAnswer | undefined> {
  const all = await received(port, request);
  return all.length === 0 ? undefined : parsed(all, method);
}

function received(port: number, request: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: "127.0.0.1" });
    const late = new Error(`no end of the answer to ${Buffer.from(request).toString("latin1").slice(0, 200)}`);
    const timer = setTimeout(() => socket.destroy(late), LIMIT);
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    // A server that refuses a request early resets the connection: what it said until then counts.
    socket.on("error", (error) => error === late && reject(error));
    socket.on("close", () => {
      clearTimeout(timer);
      resolve(Buffer.concat(chunks));
    });
    socket.write(request);
  });
}

function parsed(all: Buffer, method: string): RawAnswer {
  const text = all.toString("latin1");
  const end = text.indexOf("\r\n\r\n");
  const [statusLine, ...lines] = text.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] ([1-5]\d\d)( |$)/.exec(statusLine)?.[1]);
  if (end < 0 || Number.isNaN(status)) throw new Error(`not an HTTP/1.1 answer: ${JSON.stringify(text.slice(0, 200))}`);
  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`not a field line: ${JSON.stringify(line)}`);
    const former = fields.get(name.toLowerCase());
    fields.set(name.toLowerCase(), former === undefined ? value : `${former}, ${value}`);
  }
  return { status, fields, body: bodyOf(all.subarray(end + 4), status, method, fields), all: text };
}

function bodyOf(rest: Buffer, status: number, method: string, fields: ReadonlyMap<string, string>): Buffer {
  if (fields.get("transfer-encoding")?.toLowerCase() === "chunked") return outOfChunks(rest);
  const bodiless = method === "HEAD" || status === 204 || status === 304;
  const length = bodiless ? 0 : Number(fields.get("content-length") ?? rest.length);
  if (rest.length !== length) throw new Error(`${rest.length} bytes follow the head of a ${status}, not ${length}`);
  return rest;
}

function outOfChunks(rest: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0;;) {
    const line = rest.indexOf("\r\n", at, "latin1");
    const size = parseInt(rest.toString("latin1", at, line), 16);
    if (line < 0 || Number.isNaN(size)) throw new Error("a chunked body without an end");
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(rest.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** Calls a function for each item, a few at a time. */
export async function forEachOf<T>(
  items: readonly T[],
  atOnce: number,
  visit: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) await visit(items[next++]);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
