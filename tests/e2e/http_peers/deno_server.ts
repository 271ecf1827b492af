/** The application on Deno.serve, run by Deno in a process of its own. */
import process from "node:process";
import { certificates } from "../../http/certificates.ts";
import type { Origins } from "./application.ts";
import { answerFetch } from "./web_app.ts";

interface Options {
  readonly hostname: string;
  readonly port: number;
  readonly cert?: string;
  readonly key?: string;
  readonly onListen: () => void;
  readonly onError: () => Response;
}
interface DenoServe {
  serve(options: Options, handler: (request: Request) => Response | Promise<Response>): { addr: { port: number } };
}

const { serve } = (globalThis as unknown as { Deno: DenoServe }).Deno;
const { cert, key } = certificates;
const options: Options = {
  hostname: "127.0.0.1",
  port: 0,
  onListen() {},
  onError: () => new Response(null, { status: 500 }),
};
const secure = serve({ ...options, cert, key }, answerFetch).addr.port;
const plain = serve(options, answerFetch).addr.port; // knows h2 by its preface
const origins: Origins = {
  h2: `https://127.0.0.1:${secure}`,
  h2c: `http://127.0.0.1:${plain}`,
  h1: `http://127.0.0.1:${plain}`,
};
console.log(JSON.stringify(origins));
process.stdin.on("end", () => process.exit()).resume(); // the parent process has ended
