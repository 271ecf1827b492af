import { Buffer } from "node:buffer";
import { type IncomingHttpHeaders, request } from "node:http";

/** A response, encoded as received; redirects are not followed. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Ask = (method: string, path: string, headers?: Record<string, string>) => Promise<Answer>;

/** Returns a function that requests paths below `base`. */
export function asks(base: string): Ask {
  const { hostname: host, port, pathname } = new URL(base);
  const prefix = pathname.replace(/\/$/, "");
  return (method, path, headers = {}) =>
    new Promise((resolve, reject) => {
      request({ host, port, path: prefix + path, method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject).on("end", () => {
          resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
        });
      }).on("error", reject).end();
    });
}
