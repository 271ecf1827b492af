/** The application on node:http and node:http2, run by Node in a process of its own. */
import { createServer as createHttpServer } from "node:http";
import { createSecureServer, createServer as createHttp2Server } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import process from "node:process";
import { certificates } from "../../http/certificates.ts";
import type { Origins } from "./application.ts";
import { answerHttp, answerHttp2 } from "./node_app.ts";

const { cert, key, ca } = certificates;
const settings = { maxConcurrentStreams: 50 };

function listen(server: unknown, scheme: "http" | "https"): Promise<string> {
  const listening = server as Server;
  return new Promise((resolve, reject) => {
    listening.once("error", reject);
    listening.listen(0, "127.0.0.1", () => {
      resolve(`${scheme}://127.0.0.1:${(listening.address() as AddressInfo).port}`);
    });
  });
}

const origins: Origins = {
  h2: await listen(createSecureServer({ cert, key, allowHTTP1: true, settings }, answerHttp2), "https"),
  h2c: await listen(createHttp2Server({ settings }, answerHttp2), "http"),
  h1: await listen(createHttpServer({ maxHeaderSize: 100_000 }, answerHttp), "http"),
  h1s: await listen(createHttpsServer({ cert, key, maxHeaderSize: 100_000 }, answerHttp), "https"),
  verified: await listen(
    createSecureServer({ cert, key, ca, allowHTTP1: true, requestCert: true, rejectUnauthorized: true }, answerHttp2),
    "https",
  ),
};
console.log(JSON.stringify(origins));
process.stdin.on("end", () => process.exit()).resume(); // the parent process has ended
