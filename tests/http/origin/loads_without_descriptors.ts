/**
 * A process in which the system has no file descriptor left for a moment, and a client of before and one of then send a request;
 * prints how that of the latter fails, and what the former gets afterwards.
 */
import { closeSync, openSync } from "node:fs";
import { Duplex } from "node:stream";
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";
import { responses } from "../../../lib/http/origin/open_connection.ts";
import { until } from "../../support/waits.ts";

function answering(): Duplex {
  const stream: Duplex = new Duplex({
    read: () => {},
    write(_chunk, _encoding, done) {
      stream.push("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine");
      done();
    },
  });
  return stream;
}

const isEarly = process.argv[2] === "early";
const early = isEarly ? new HttpClient({ retries: 0, connect: answering }) : undefined;
// Elsewhere they load late.
if (isEarly && "Bun" in globalThis) await until(() => responses !== undefined, "the client's modules");
const taken: number[] = [];
try {
  for (;;) taken.push(openSync(process.execPath, "r"));
} catch {
  // there is no other
}
const client = early ?? new HttpClient({ retries: 0, connect: () => new Promise(() => {}) });
const error = await client.fetch("http://test/").catch((error) => error);
for (const descriptor of taken) closeSync(descriptor);
if (isEarly) console.log(await (await client.fetch("http://test/")).text());
else console.log(error instanceof HttpError, error.code, error.origin, "message" in error.cause);
process.exit();
