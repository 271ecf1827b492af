import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { sourceText } from "../../support/bytes.ts";

/** The rows of a page. */
export const ROWS = 20;

export const pageRow = (id: string, row: number): string => `<p>${id} row ${row}</p>\n`;

/** Returns the whole page of a request. */
export function wholePage(id: string): string {
  return Array.from({ length: ROWS }, (_, i) => pageRow(id, i + 1)).join("");
}

/** Returns the data of an event, by which its receiver checks it. */
export function eventData(number: number): string {
  return `${number} ${sha256(String(number)).slice(0, 40)}`;
}

/** Returns a script that begins with the hash of its rest, so that every version can be checked. */
export function selfHashed(version: number): string {
  const rest = Buffer.from(sourceText(20_000, version)).toString();
  return `// ${sha256(rest)}\n${rest}`;
}

export function isSelfHashed(script: string): boolean {
  const end = script.indexOf("\n");
  return script.slice(3, end) === sha256(script.slice(end + 1));
}

/** The response of the upstream server for a user. */
export const userOf = (number: number): string => JSON.stringify({ id: number, name: `miller ${number}`.repeat(50) });

export function sha256(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
