import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import test from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { HttpClient, type HttpClientOptions, HttpError } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { until, within } from "../../support/waits.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";

const skip = process.platform === "win32" ? "Windows has named pipes instead" : false;

interface Scene {
  readonly client: HttpClient;
  readonly path: string;
  readonly sockets: ReadonlySet<Socket>;
}

type Serve = (onSocket: (socket: Socket) => void) => Server;
const plain: Serve = (onSocket) => createServer(onSocket);
const withTls = (alpn: string): Serve => (onSocket) =>
  createTlsServer({ cert: certificates.cert, key: certificates.key, ALPNProtocols: [alpn] }, onSocket);

async function overUnixSocket(
  serve: Serve,
  onSocket: (socket: Socket) => void,
  options: HttpClientOptions,
  act: (scene: Scene) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-unix-"));
  const path = join(folder, "s");
  const sockets = new Set<Socket>();
  const server = serve((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const client = new HttpClient({ tls: { ca: certificates.ca }, socketPath: path, ...options });
  try {
    await within(act({ client, path, sockets }), "the scene");
    await within(client.close(), "close()");
    await until(() => sockets.size === 0, "the end of all sockets");
  } finally {
    client.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  }
}

/** Answers with the requested host. */
const owner = {
  settings: {},
  violations: [],
  onRequest: (request: ServerRequest) =>
    respond(
      request,
      200,
      Buffer.from(`${request.fields.get(":authority") ?? request.fields.get("host")}${request.path}`),
    ),
};

for (
  const [protocol, serve, scheme] of [
    ["http/1.1", plain, "http"],
    ["h2c", plain, "http"],
    ["http/1.1", withTls("http/1.1"), "https"],
    ["h2", withTls("h2"), "https"],
  ] as const
) {
  test(`socketPath: ${protocol} of ${scheme}: origins by name, each with connections of its own`, { skip }, () => {
    const peer = (socket: Socket): void => {
      if (protocol.startsWith("h2")) new Http2Peer(socket, owner as never);
      else new Http1Peer(socket, owner);
    };
    return overUnixSocket(serve, peer, { h2c: protocol === "h2c", connections: 1 }, async ({ client, sockets }) => {
      for (const path of ["/1", "/2"]) {
        assert.equal(await (await client.fetch(`${scheme}://localhost${path}`)).text(), `localhost${path}`);
      }
      assert.equal(sockets.size, 1);
      assert.equal(await (await client.fetch(`${scheme}://127.0.0.1:8080/3`)).text(), "127.0.0.1:8080/3");
      assert.equal(sockets.size, 2);
    });
  });
}

test(
  "socketPath: the certificate has to be for the URL's host",
  { skip },
  () =>
    overUnixSocket(withTls("h2"), () => {}, {}, async ({ client }) => {
      const error = await client.fetch("https://one.test").catch((error) => error);
      assert.equal(error.code, "CERTIFICATE_HOST_MISMATCH");
      assert.match(error.message, /not for one\.test/);
    }),
);

test("socketPath: where nothing listens, or no socket is: CONNECTION_REFUSED, with the path", { skip }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-unix-"));
  for (const socketPath of [join(folder, "missing"), folder, join(folder, "x".repeat(300))]) {
    for (const url of ["http://localhost", "https://localhost"]) {
      const client = new HttpClient({ socketPath });
      const error = await client.fetch(url).catch((error) => error);
      assert.ok(error instanceof HttpError, String(error));
      assert.equal(error.code, "CONNECTION_REFUSED", error.message);
      assert.ok(error.message.startsWith(`Cannot connect to the Unix socket ${socketPath}: `), error.message);
      assert.equal(error.origin, url);
      await client.close();
    }
  }
  await rm(folder, { recursive: true });
});

test(
  "socketPath: a server that does not answer TLS: CONNECT_TIMEOUT, and aborts are heard",
  { skip },
  () =>
    overUnixSocket(plain, (socket) => socket.resume(), { connectTimeout: 200 }, async ({ client, sockets }) => {
      const error = await client.fetch("https://localhost").catch((error) => error);
      assert.equal(error.code, "CONNECT_TIMEOUT");
      const reason = new Error("enough");
      const controller = new AbortController();
      const pending = client.fetch("https://localhost", { signal: controller.signal }).catch((error) => error);
      setTimeout(() => controller.abort(reason), 10);
      assert.equal(await pending, reason);
      await until(() => sockets.size === 0, "the end of all sockets");
    }),
);
