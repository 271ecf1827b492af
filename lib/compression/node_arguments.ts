import { Buffer } from "node:buffer";
import type { ServerResponse } from "node:http";
import process from "node:process";
import { types } from "node:util";
import { bytesOf as bytesOfChunk, described } from "../streams/internal.ts";
import type { ResponseFields } from "./policy.ts";

/** The fields of a response of `node:http` or `node:http2`. */
export class NodeFields implements ResponseFields {
  readonly #res: ServerResponse;

  constructor(res: ServerResponse) {
    this.#res = res;
  }

  get(name: string): string | undefined {
    const value = this.#res.getHeader(name);
    return Array.isArray(value) ? value.join(", ") : value === undefined ? undefined : String(value);
  }

  set(name: string, value: string): void {
    this.#res.setHeader(name, value);
  }

  delete(name: string): void {
    this.#res.removeHeader(name);
  }
}

export type Written = (error?: Error | null) => void;

/** Returns the arguments of `write()` and `end()`, whose overloads omit some. */
export function argumentsOf(
  [chunk, encoding, callback]: readonly unknown[],
): { chunk: unknown; encoding: unknown; written: Written | undefined } {
  const isFunction = (value: unknown): value is Written => typeof value === "function";
  const written = [chunk, encoding, callback].find(isFunction);
  return {
    chunk: isFunction(chunk) ? undefined : chunk,
    encoding: isFunction(encoding) ? undefined : encoding,
    written,
  };
}

/**
 * Returns the bytes of a text, a view or a buffer; undefined for anything else. Not every runtime and protocol accepts
 * all of these. Text of more than `most` code units that is sent as UTF-8 is returned as text.
 * @throws {TypeError} if a buffer is detached, which Node treats as empty.
 */
export function contentOf(chunk: unknown, encoding: unknown, most: number): Uint8Array | string | undefined {
  if (types.isUint8Array(chunk) && chunk.length > 0) return chunk; // works for objects of any realm
  if (typeof chunk !== "string") return bytesOfChunk(chunk);
  if (encoding && !Buffer.isEncoding(encoding as string)) return undefined;
  if (chunk.length > most && (!encoding || /^utf-?8$/i.test(encoding as string))) return chunk;
  return Buffer.from(chunk, (encoding || "utf8") as BufferEncoding);
}

/** Returns the error for a chunk that {@linkcode contentOf} rejects, with the code of Node's own error. */
export function refusal(chunk: unknown, encoding: unknown): TypeError {
  const [code, what] = chunk === null
    ? ["ERR_STREAM_NULL_VALUES", "null"]
    : typeof chunk === "string"
    ? ["ERR_UNKNOWN_ENCODING", `a string in the unknown encoding ${described(encoding)}`]
    : ["ERR_INVALID_ARG_TYPE", described(chunk)];
  return Object.assign(new TypeError(`Cannot write ${what} to a response: use a string or bytes`), { code });
}

/** The methods that write the head of a response, or change it and throw once it is written. */
const AFTER_HEAD = ["setHeader", "setHeaders", "appendHeader", "removeHeader", "_implicitHeader"] as const;

/** Replaces properties of a response, until the returned function is called. */
export function replaceIn(res: ServerResponse, names: readonly string[], make: (name: string) => unknown): () => void {
  const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(res, name)] as const);
  for (const name of names) {
    Object.defineProperty(res, name, { value: make(name), configurable: true, writable: true });
  }
  return () => {
    for (const [name, own] of before) {
      if (own === undefined) Reflect.deleteProperty(res, name);
      else Object.defineProperty(res, name, own);
    }
  };
}

/** Makes a response behave as if its head were sent, until it is released. `make` sends it when a call needs it. */
export function holdHead(res: ServerResponse, make: () => void): () => void {
  const methods = res as unknown as Record<string, (...given: unknown[]) => unknown>;
  const held = (name: string) => (...given: unknown[]): unknown => {
    make();
    return name === "_implicitHeader" ? undefined : methods[name](...given);
  };
  return replaceIn(res, ["headersSent", ...AFTER_HEAD], (name) => name === "headersSent" || held(name));
}

/** Makes an answered response ignore further calls of its handler, except that their callbacks are called. */
export function ignoreCalls(res: ServerResponse): void {
  replaceIn(res, [...AFTER_HEAD, "writeHead", "flushHeaders", "write", "end"], (name) => (...given: unknown[]) => {
    const { written } = argumentsOf(given);
    if (written !== undefined) process.nextTick(written);
    return name === "write" || res;
  });
}

/** Sets the fields of the argument of `writeHead()`, or none: fields of a refused head must not reach the next one. */
export function setHeaders(res: ServerResponse, given: unknown): void {
  const { getRawHeaderNames = res.getHeaderNames } = res as { getRawHeaderNames?(): string[] }; // HTTP/2 lacks it
  const names = getRawHeaderNames.call(res);
  const before = names.map((name) => [name, res.getHeader(name)!] as const);
  try {
    setEach(res, given);
  } catch (error) {
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    for (const [name, value] of before) res.setHeader(name, value);
    throw error;
  }
}

/** Sets fields from an object, or an array of names and values, flat or in pairs. */
function setEach(res: ServerResponse, given: unknown): void {
  const list = Array.isArray(given) ? given.flat(Array.isArray(given[0]) ? 1 : 0) : Object.entries(given ?? {}).flat();
  if (list.length % 2 === 1) {
    const error = new TypeError("Cannot write a head: its array has a name without a value");
    throw Object.assign(error, { code: "ERR_INVALID_ARG_VALUE" });
  }
  const seen = new Set<string>();
  for (let i = 0; i < list.length; i += 2) {
    const key = String(list[i]).toLowerCase();
    if (Array.isArray(given) && seen.has(key)) res.appendHeader(list[i], list[i + 1]);
    else res.setHeader(list[i], list[i + 1]);
    seen.add(key);
  }
}
