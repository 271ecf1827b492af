import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createSecureServer, createServer as createH2cServer, type ServerHttp2Session } from "node:http2";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { certificates } from "../certificates.ts";

/** A server's handler of a request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on a free port that counts its connections and requests. */
export interface TestOrigin {
  url: string;
  port: number;
  /** Sockets ever accepted. */
  sockets: number;
  /** HTTP/2 sessions ever opened. */
  sessions: number;
  /** Requests ever begun. */
  requests: number;
  /** The number of concurrent requests, and its maximum. */
  active: number;
  peak: number;
  /** Called with each new socket. */
  onSocket?: (socket: Socket) => void;
  /** Accepts no more connections. */
  refuse(): void;
  /** Ends its connections and stops. */
  stop(): Promise<void>;
}

/** The protocol and settings of an origin. */
export interface OriginOptions {
  protocol: "h2" | "h2c" | "http/1.1" | "https/1.1";
  maxConcurrentStreams?: number;
  key?: string;
  cert?: string;
}

/** Starts a server of `node:http`, `node:https` or `node:http2`. */
export async function startOrigin(answer: Answer, options: OriginOptions): Promise<TestOrigin> {
  const { protocol, maxConcurrentStreams, key = certificates.key, cert = certificates.cert } = options;
  const settings = maxConcurrentStreams === undefined ? {} : { maxConcurrentStreams };
  const counted = (request: IncomingMessage, response: ServerResponse): void => {
    origin.requests++;
    origin.peak = Math.max(origin.peak, ++origin.active);
    response.once("close", () => origin.active--);
    answer(request, response);
  };
  const server = {
    h2: () => createSecureServer({ key, cert, settings }, counted as never),
    h2c: () => createH2cServer({ settings }, counted as never),
    "http/1.1": () => createHttpServer(counted),
    "https/1.1": () => createHttpsServer({ key, cert }, counted),
  }[protocol]() as unknown as Server;
  const sockets = new Set<Socket>();
  server.on(protocol === "h2" || protocol === "https/1.1" ? "secureConnection" : "connection", (socket: Socket) => {
    origin.sockets++;
    origin.onSocket?.(socket);
    sockets.add(socket);
    socket.on("error", () => {}); // clients under test leave as they like
    socket.once("close", () => sockets.delete(socket));
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session: ServerHttp2Session) => {
    origin.sessions++;
    sessions.add(session);
    session.on("error", () => {});
    session.once("close", () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const scheme = protocol === "h2" || protocol === "https/1.1" ? "https" : "http";
  const origin: TestOrigin = {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    sockets: 0,
    sessions: 0,
    requests: 0,
    active: 0,
    peak: 0,
    refuse: () => void server.close(),
    stop: () =>
      new Promise((resolve) => {
        if (server.listening) server.close();
        server.once("close", resolve);
        for (const session of sessions) session.destroy();
        for (const socket of sockets) socket.destroy();
      }),
  };
  return origin;
}
