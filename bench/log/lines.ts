import { createHash } from "node:crypto";

/** Bytes of a line, with its end. */
export const LINE_LENGTH = 120;

const head = '{"level":30,"time":1764000000000,"pid":4242,"hostname":"mill","i":"';
const tail = `","msg":"${"the wheel turns ".repeat(3)}`.slice(0, LINE_LENGTH - head.length - 10 - 3) + '"}\n';

/** Returns the line of a number. */
export function lineOf(i: number): string {
  return head + String(i).padStart(10, "0") + tail;
}

/** Returns the SHA-256 of the first `count` lines. */
export function hashOfLines(count: number): string {
  const hash = createHash("sha256");
  for (let i = 0; i < count;) {
    let text = "";
    for (const end = Math.min(count, i + 1000); i < end; i++) text += lineOf(i);
    hash.update(text);
  }
  return hash.digest("hex");
}
