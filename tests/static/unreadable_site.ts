/** Serves a folder, requests paths of it, and prints responses and warnings: `unreadable_site.ts FOLDER PATH ...` */
import process from "node:process";
import { createStaticHandler } from "../../lib/static/mod.ts";

/** The responses and warnings. */
export interface Outcome {
  /** Statuses and bodies, in the order of the paths. */
  readonly answers: readonly (readonly [status: number, body: string, coding: string | null])[];
  /** The warnings as `path: message`, sorted. */
  readonly warnings: readonly string[];
}

const [folder, ...paths] = process.argv.slice(2);
const warnings: string[] = [];
const handler = await createStaticHandler(folder, {
  onWarning: ({ path, message }) => warnings.push(`${path}: ${message}`),
});
const answers: Outcome["answers"][number][] = [];
for (const path of paths) {
  const request = new Request(`http://localhost${path}`, { headers: { "accept-encoding": "br, gzip" } });
  const response = await handler.fetch(request);
  answers.push([response.status, await response.text(), response.headers.get("content-encoding")]);
}
await handler.close();
const outcome: Outcome = { answers, warnings: warnings.sort() };
console.log(JSON.stringify(outcome));
