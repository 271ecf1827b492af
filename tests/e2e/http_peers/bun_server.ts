/** The application on Bun.serve, run by Bun in a process of its own. */
import process from "node:process";
import { certificates } from "../../http/certificates.ts";
import type { Origins } from "./application.ts";
import { answerFetch } from "./web_app.ts";

interface Options {
  readonly hostname: string;
  readonly port: number;
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly error: () => Response;
}
interface BunServe {
  serve(options: Options): { port: number };
}

const { serve } = (globalThis as unknown as { Bun: BunServe }).Bun;
const { cert, key } = certificates;
const options: Options = {
  hostname: "127.0.0.1",
  port: 0,
  fetch: answerFetch,
  error: () => new Response(null, { status: 500 }),
};
const origins: Origins = {
  h1: `http://127.0.0.1:${serve(options).port}`,
  h1s: `https://127.0.0.1:${serve({ ...options, tls: { cert, key } }).port}`,
};
console.log(JSON.stringify(origins));
process.stdin.on("end", () => process.exit()).resume(); // the parent process has ended
