import type { OutgoingHttpHeaders, ServerResponse } from "node:http";

/**
 * Writes the status and the fields of a response, which are given as names and values in turn: Node and Bun take them so,
 * Deno 2.4 would lose them.
 */
export const writeHead: (response: ServerResponse, status: number, fields: readonly string[]) => void =
  "Deno" in globalThis
    ? (response, status, fields) => void response.writeHead(status, byName(fields))
    : (response, status, fields) => void response.writeHead(status, fields as string[]);

function byName(fields: readonly string[]): OutgoingHttpHeaders {
  const values: Record<string, string[]> = Object.create(null);
  for (let i = 0; i < fields.length; i += 2) (values[fields[i]] ??= []).push(fields[i + 1]);
  const members = Object.entries(values).map(([name, all]) => [name, all.length === 1 ? all[0] : all]);
  return Object.fromEntries(members);
}
