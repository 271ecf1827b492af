/**
 * Origins of HTTP in one process, always on Node, as lines of JSON ask for them. They speak the protocols by themselves and
 * look at nothing but what they must (no path, no field), so that every client is slower than they are. Arguments:
 * the files of certificate and key.
 */
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import process from "node:process";
import { createInterface } from "node:readline";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import type { Failure } from "../line_process.ts";
import { serveFrames } from "./origin_h2.ts";
import { serveText } from "./origin_h1.ts";
import type { Opened, OriginOptions, OriginQuestion, Seen, Traffic } from "./origin_options.ts";

const [certFile, keyFile] = process.argv.slice(2);
const [cert, key] = [readFileSync(certFile), readFileSync(keyFile)];
const traffic = new Map<number, Traffic>();
const none: Traffic = { sockets: 0, requests: 0, refused: 0, peakStreams: 0, received: 0 };

function opened(options: OriginOptions): Promise<Opened> {
  const seen: Traffic = { ...none };
  const serve = (socket: Socket): void => {
    seen.sockets++;
    socket.setNoDelay(true).on("error", () => {}); // clients leave as they like
    const chosen = options.secure ? (socket as TLSSocket).alpnProtocol || "http/1.1" : options.protocols[0];
    if (chosen === "h2") serveFrames(socket, options, seen);
    else serveText(socket, options, seen);
  };
  const server: Server = options.secure
    ? createTlsServer({ cert, key, ALPNProtocols: [...options.protocols] }, serve)
    : createTcpServer(serve);
  server.on("tlsClientError", () => {});
  return new Promise((ready, failed) => {
    server.on("error", failed).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      traffic.set(port, seen);
      ready({ port });
    });
  });
}

/** Resets the figures, except those of requests that have not ended. */
function seenAt(port: number): Seen {
  const seen = traffic.get(port)!;
  const { user, system } = process.cpuUsage();
  const answer = { ...seen, cpu: (user + system) / 1e6 };
  Object.assign(seen, none);
  return answer;
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line) as OriginQuestion;
  const answer: Opened | Seen | Failure = "open" in question
    ? await opened(question.open).catch((error) => ({ failure: String(error) }))
    : seenAt(question.trafficOf);
  console.log(JSON.stringify(answer));
}
process.exit();
