import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions, type TLSSocket } from "node:tls";
import { certificates } from "../certificates.ts";

/** A server on 127.0.0.1. */
export interface Listening {
  readonly port: number;
  /** The sockets it has accepted so far, without TLS. */
  readonly sockets: readonly Socket[];
  /** Closes the server and its connections. */
  close(): Promise<void>;
}

async function listening(server: Server): Promise<Listening> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => {
    sockets.push(socket);
    socket.on("error", () => {}); // clients close their sockets abruptly here
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async close(): Promise<void> {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Returns a server that speaks whatever `onSocket` does. */
export function serveTcp(onSocket: (socket: Socket) => void): Promise<Listening> {
  return listening(createServer({ noDelay: true }, onSocket));
}

/** Returns a server that speaks TLS. Default: with the certificate for localhost, and h2 or HTTP/1.1 by ALPN. */
export function serveTls(options: TlsOptions, onSocket: (socket: TLSSocket) => void): Promise<Listening> {
  const { cert, key } = certificates;
  const server = createTlsServer({ cert, key, ALPNProtocols: ["h2", "http/1.1"], ...options }, (socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  server.on("tlsClientError", () => {});
  return listening(server);
}
