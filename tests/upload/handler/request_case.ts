import { Buffer } from "node:buffer";
import type { UploadHandlerOptions } from "../../../lib/upload/mod.ts";

/** A request, and the response expected on every server. */
export interface RequestCase {
  readonly name: string;
  readonly options?: Partial<UploadHandlerOptions>;
  /** The files stored before the request. */
  readonly files?: Readonly<Record<string, string>>;
  readonly request: readonly [method: string, target: string, ...lines: string[]];
  /** Sent with Content-Length, unless a line says how it is sent. */
  readonly body?: string;
  readonly status: number;
  /** The code of the problem, or undefined. */
  readonly code?: string;
  readonly fields?: Readonly<Record<string, string | RegExp>>;
  /** The stored files: the response's `files`, without members that are undefined here. */
  readonly stored?: readonly Readonly<Record<string, unknown>>[];
  /** The answer's `fields`. */
  readonly texts?: Readonly<Record<string, unknown>>;
  /** The files stored after the request; default: those before it. */
  readonly left?: Readonly<Record<string, string>>;
}

/** Returns the bytes of the request. */
export function bytesOf({ request: [method, target, ...lines], body }: RequestCase): Uint8Array {
  const isLong = body === undefined || lines.some((line) => /^(?:content-length|transfer-encoding):/i.test(line));
  const length = isLong ? [] : [`Content-Length: ${Buffer.byteLength(body, "latin1")}`];
  const head = [`${method} ${target} HTTP/1.1`, "Host: 127.0.0.1", ...lines, ...length, "Connection: close", "", ""];
  return Buffer.from(head.join("\r\n") + (body ?? ""), "latin1");
}
