import { Buffer } from "node:buffer";
import type { OutgoingHttpHeader, ServerResponse } from "node:http";
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

/**
 * Makes a response behave as if its head were sent, until the returned function is called. `make` sends the head before
 * the first call that depends on it.
 */
export function holdHead(res: ServerResponse, make: () => void): () => void {
  const names = ["headersSent", ...AFTER_HEAD] as const;
  const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(res, name)] as const);
  Object.defineProperty(res, "headersSent", { value: true, configurable: true });
  const methods = res as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const name of AFTER_HEAD) {
    const value = (...given: unknown[]): unknown => {
      make();
      return name === "_implicitHeader" ? undefined : methods[name](...given);
    };
    Object.defineProperty(res, name, { value, configurable: true, writable: true });
  }
  return () => {
    for (const [name, own] of before) {
      if (own === undefined) Reflect.deleteProperty(res, name);
      else Object.defineProperty(res, name, own);
    }
  };
}

/** Makes an answered response ignore further calls of its handler, except that their callbacks are called. */
export function ignoreCalls(res: ServerResponse): void {
  for (const name of [...AFTER_HEAD, "writeHead", "flushHeaders", "write", "end"] as const) {
    const ignored = (...given: unknown[]): unknown => {
      const { written } = argumentsOf(given);
      if (written !== undefined) process.nextTick(written);
      return name === "write" || res;
    };
    Object.defineProperty(res, name, { value: ignored, configurable: true, writable: true });
  }
}

/** Sets the fields of the argument of `writeHead()`, or none: fields of a refused head must not reach the next one. */
export function setHeaders(res: ServerResponse, given: unknown): void {
  const before = Object.entries(res.getHeaders());
  try {
    setEach(res, given);
  } catch (error) {
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    for (const [name, value] of before) res.setHeader(name, value!);
    throw error;
  }
}

/** Sets fields from an object, or an array of names and values, flat or in pairs. */
function setEach(res: ServerResponse, given: unknown): void {
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given ?? {})) {
      if (value !== undefined) res.setHeader(name, value as OutgoingHttpHeader);
    }
    return;
  }
  const values = new Map<string, string[]>();
  const pairs = Array.isArray(given[0])
    ? given as [string, unknown][]
    : Array.from({ length: given.length >> 1 }, (_, i) => [String(given[2 * i]), given[2 * i + 1]] as const);
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    values.set(key, [...values.get(key) ?? [], ...[value].flat().map(String)]);
    res.setHeader(name, values.get(key)!.length === 1 ? values.get(key)![0] : values.get(key)!);
  }
}
