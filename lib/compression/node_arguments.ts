import { Buffer } from "node:buffer";
import type { OutgoingHttpHeader, ServerResponse } from "node:http";
import { types } from "node:util";

/** A callback of `write()` or `end()`. */
export type Written = (error?: Error | null) => void;

/** The arguments of `write()` and `end()`, whose overloads leave some out. */
export function argumentsOf(
  [chunk, encoding, callback]: readonly unknown[],
): { chunk: unknown; encoding: BufferEncoding | undefined; written: Written | undefined } {
  const isFunction = (value: unknown): value is Written => typeof value === "function";
  const written = [chunk, encoding, callback].find(isFunction);
  return {
    chunk: isFunction(chunk) ? undefined : chunk,
    encoding: typeof encoding === "string" ? encoding as BufferEncoding : undefined,
    written,
  };
}

/** The bytes of a chunk; undefined if it cannot be written. */
export function bytesOf(chunk: unknown, encoding: BufferEncoding | undefined): Uint8Array | undefined {
  if (types.isUint8Array(chunk)) return chunk; // of any realm
  if (typeof chunk !== "string" || (encoding && !Buffer.isEncoding(encoding))) return undefined;
  return Buffer.from(chunk, encoding);
}

/** Sets the fields that `writeHead()` was given: an object, or an array of names and values, flat or in pairs. */
export function setHeaders(res: ServerResponse, given: unknown): void {
  if (!Array.isArray(given)) {
    for (const [name, value] of Object.entries(given ?? {})) {
      if (value !== undefined) res.setHeader(name, value as OutgoingHttpHeader);
    }
    return;
  }
  const values = new Map<string, string[]>();
  const pairs = Array.isArray(given[0]) ? given as [string, unknown][] : pairsOf(given);
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    values.set(key, [...values.get(key) ?? [], ...[value].flat().map(String)]);
    res.setHeader(name, values.get(key)!.length === 1 ? values.get(key)![0] : values.get(key)!);
  }
}

function pairsOf(flat: readonly unknown[]): [string, unknown][] {
  return Array.from({ length: flat.length >> 1 }, (_, i) => [String(flat[2 * i]), flat[2 * i + 1]]);
}
