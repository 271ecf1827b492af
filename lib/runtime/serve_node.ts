import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Listening, ListenOptions } from "./serve_options.ts";

/** Listens with `node:http` or `node:https`. */
export async function listenOnNode({ node, address, port, tls }: ListenOptions): Promise<Listening> {
  const server = await serverOf(node, tls);
  const sockets = new Set<Socket>();
  server.on(tls ? "secureConnection" : "connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const bound = server.address();
  return {
    port: bound !== null && typeof bound === "object" ? bound.port : port,
    cut: () => server.closeAllConnections(),
    finish: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // Node counts a connection that has not sent a byte yet as busy. Browsers open such ones ahead.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      // It does not close the others when their last answer is out, but leaves them to wait for another request.
      const sweep = setInterval(() => server.closeIdleConnections(), 25);
      await closed.finally(() => clearInterval(sweep));
    },
  };
}

/** The modules are loaded here: `node:https` takes 20 ms, and most programs that need other parts of this folder never serve. */
async function serverOf(node: ListenOptions["node"], tls: ListenOptions["tls"]): Promise<Server> {
  if (!tls) return (await import("node:http")).createServer(node);
  return (await import("node:https")).createServer({ cert: tls.cert, key: tls.key }, node);
}
