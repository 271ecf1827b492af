import { Buffer } from "node:buffer";

/** The chunk that bodies consist of; a body of this size or less is sent with its head. */
export const bodyPiece: Buffer = Buffer.alloc(65_536, "a");

/** Returns the fields of an answer, apart from its status. */
export function fieldsOf(bytes: number): [name: string, value: string][] {
  return [
    ["content-type", "text/plain; charset=utf-8"],
    ["content-length", String(bytes)],
    ["date", new Date().toUTCString()],
  ];
}
