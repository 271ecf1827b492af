import { Buffer } from "node:buffer";
import type { CurlAnswer } from "./curl.ts";

/** A part of a file, as a 206 has it. */
export interface Part {
  /** Its `Content-Range`. */
  readonly range: string;
  /** The bytes in base64. */
  readonly bytes: string;
}

/** Returns the parts that a 206 sends, whatever separates them. */
export function partsOf({ headers, body }: CurlAnswer): Part[] {
  const boundary = /^multipart\/byteranges; *boundary="?([^"]+)"?$/.exec(headers.get("content-type")!)?.[1];
  if (boundary === undefined) {
    return [{ range: headers.get("content-range")!, bytes: Buffer.from(body).toString("base64") }];
  }
  const text = Buffer.from(body).toString("latin1");
  const pieces = `\r\n${text.replace(/^\r\n/, "")}`.split(`\r\n--${boundary}`);
  if (!pieces.at(-1)!.startsWith("--")) throw new TypeError(`the parts have no end: ${text.slice(-100)}`);
  return pieces.slice(1, -1).map((piece) => {
    const end = piece.indexOf("\r\n\r\n");
    const range = /^content-range: *(.*)$/im.exec(piece.slice(0, end))![1]!;
    return { range: range.trim(), bytes: Buffer.from(piece.slice(end + 4), "latin1").toString("base64") };
  });
}
