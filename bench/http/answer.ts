import { Buffer } from "node:buffer";

/** What bodies are made of; those that are no larger are sent with the head. */
export const bodyPiece: Buffer = Buffer.alloc(65_536, "a");

/** The fields of an answer, apart from its status. */
export function fieldsOf(bytes: number): [name: string, value: string][] {
  return [
    ["content-type", "text/plain; charset=utf-8"],
    ["content-length", String(bytes)],
    ["date", new Date().toUTCString()],
  ];
}
