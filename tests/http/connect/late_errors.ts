/**
 * Breaks connections at unexpected times, and prints as JSON how requests ended and which errors were unhandled. This
 * is a separate process because a test runner would count the errors as failures.
 */
import type { Socket } from "node:net";
import process from "node:process";
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { serveTcp, serveTls } from "./servers.ts";

const unhandled: string[] = [];
const uncaught: string[] = [];
let current = "";
process.on("unhandledRejection", (error) => unhandled.push(`${current}: ${error}`));
process.on("uncaughtException", (error) => uncaught.push(`${current}: ${error}`));

const later = (ms = 10): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";

/** Returns the end of a request: its status, or its error. */
function outcome(request: Promise<unknown>): Promise<string> {
  return request.then(
    (response) => response instanceof Response ? String(response.status) : "read",
    (error) => error instanceof HttpError ? error.code : String(error instanceof Error ? error.message : error),
  );
}

/** Connects to a server that breaks the connection at a random time. */
async function meet(
  scheme: "http" | "https" | "not TLS",
  onSocket: (socket: Socket, reset: () => void) => void,
  talk: (client: HttpClient, url: string) => Promise<string>,
): Promise<string> {
  const serve = scheme === "https"
    ? serveTls({ ALPNProtocols: ["http/1.1"] }, (socket) => onSocket(socket, reset))
    : serveTcp((socket) => onSocket(socket, reset));
  const server = await serve;
  const reset = (): void => {
    for (const socket of server.sockets) socket.resetAndDestroy();
  };
  const client = new HttpClient({ tls: { ca: certificates.ca }, retries: 0 });
  const ended = await talk(client, `${scheme === "http" ? "http" : "https"}://localhost:${server.port}/`);
  await later();
  reset();
  await later();
  client.destroy();
  await server.close();
  await later();
  return ended;
}

const scenarios: Record<string, () => Promise<string>> = {
  "reset in the handshake": () =>
    meet(
      "not TLS",
      (socket) => socket.once("data", () => socket.resetAndDestroy()),
      (client, url) => outcome(client.fetch(url)),
    ),
  "reset at once": () =>
    meet(
      "http",
      (socket) => socket.once("data", () => socket.resetAndDestroy()),
      (client, url) => outcome(client.fetch(url)),
    ),
  "reset after the headers, body never read": () =>
    meet("https", (socket, reset) => {
      socket.once("data", () => {
        socket.write(`${head}some`);
        setTimeout(reset, 10);
      });
    }, (client, url) => outcome(client.fetch(url))),
  "reset while the body is read": () =>
    meet("https", (socket, reset) => {
      socket.once("data", () => {
        socket.write(`${head}some`);
        setTimeout(reset, 10);
      });
    }, (client, url) => outcome(client.fetch(url).then((response) => response.text()))),
  "reset of an idle connection": () =>
    meet("https", (socket) => {
      socket.once("data", () => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    }, (client, url) => outcome(client.fetch(url))),
  "reset after destroy()": () =>
    meet("https", (socket, reset) => socket.once("data", () => setTimeout(reset, 100)), async (client, url) => {
      const ended = outcome(client.fetch(url));
      await later(50);
      client.destroy();
      await later(80);
      return await ended;
    }),
  "aborted while connecting, then reset": () =>
    meet("not TLS", () => {}, async (client, url) => {
      const controller = new AbortController();
      const ended = outcome(client.fetch(url, { signal: controller.signal }));
      await later();
      controller.abort(new Error("given up"));
      return await ended;
    }),
  "aborted while it waits, then reset": () =>
    meet("https", () => {}, async (client, url) => {
      const controller = new AbortController();
      const ended = outcome(client.fetch(url, { signal: controller.signal }));
      await later(50);
      controller.abort(new Error("given up"));
      return await ended;
    }),
  "a request that nobody waits for": () =>
    meet("https", (socket, reset) => socket.once("data", reset), async (client, url) => {
      client.fetch(url, { method: "POST", body: "x" }).catch(() => {});
      await later(50);
      return "nobody knows";
    }),
  "a body that breaks after the reset": () =>
    meet("https", (socket, reset) => socket.once("data", reset), async (client, url) => {
      const body = async function* (): AsyncGenerator<Uint8Array> {
        yield new Uint8Array(10);
        await later(40);
        throw new Error("too late");
      };
      const ended = await outcome(client.fetch(url, { method: "POST", body: body() }));
      await later(60);
      return ended;
    }),
};

const outcomes: Record<string, string> = {};
for (const [name, scenario] of Object.entries(scenarios)) {
  current = name;
  outcomes[name] = await scenario();
}
console.log(JSON.stringify({ unhandled, uncaught, outcomes }));
process.exit(0);
