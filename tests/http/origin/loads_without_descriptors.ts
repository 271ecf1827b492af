/** A process whose client loads its modules while the system has no file descriptor left; prints how that fails. Argument: a URL. */
import { closeSync, openSync } from "node:fs";
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";

const client = new HttpClient({ retries: 0, connect: () => new Promise(() => {}) });
const taken: number[] = [];
try {
  for (;;) taken.push(openSync(process.execPath, "r"));
} catch {
  // there is no other
}
const error = await client.fetch("http://test/").catch((error) => error);
for (const descriptor of taken) closeSync(descriptor);
console.log(
  error instanceof HttpError,
  error.code,
  error.origin,
  error.cause instanceof Error || "message" in error.cause,
);
process.exit();
