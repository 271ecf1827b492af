import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import process from "node:process";
import test from "node:test";
import { type RunningServer, serve, type ServeOptions } from "../../lib/runtime/mod.ts";
import { inFolder } from "../support/folders.ts";
import { canMakeCertificates, makeCertificate } from "../support/certificate.ts";
import { Connection } from "../support/connection.ts";

const isDeno = "deno" in process.versions;

/** Answers `/` at once, and other paths with a first part, and the rest when `release()` is called. */
function slowService(): Pick<ServeOptions, "fetch" | "node"> & { release: () => void } {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => release = resolve);
  return {
    release,
    fetch: (request) => {
      if (new URL(request.url).pathname === "/") return new Response("at once");
      return new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("first part"));
            await released;
            controller.enqueue(new TextEncoder().encode("last part"));
            controller.close();
          },
        }),
      );
    },
    node: (request, response) => {
      if (request.url === "/") return void response.end("at once");
      response.write("first part");
      void released.then(() => response.end("last part"));
    },
  };
}

async function served(
  options: Partial<ServeOptions>,
  use: (server: RunningServer, release: () => void) => Promise<void>,
): Promise<void> {
  const service = slowService();
  const server = await serve({ ...service, hostname: "127.0.0.1", port: 0, ...options });
  try {
    await use(server, service.release);
  } finally {
    service.release();
    await server.stop(0);
  }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

async function listening(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  return server;
}

/** Servers at two ports that follow each other. */
async function neighbours(): Promise<{ port: number; close: () => Promise<unknown> }> {
  for (let tries = 0; tries < 100; tries++) {
    const first = await listening(0);
    const { port } = first.address() as AddressInfo;
    const second = await listening(port + 1).catch(() => undefined);
    const close = () =>
      Promise.all([first, second].map((server) => server && new Promise((resolve) => server.close(resolve))));
    if (second) return { port, close };
    await close();
  }
  throw new Error("no two neighbouring ports are free");
}

test("serve() takes the next port that is free, if it may; else it tells which are in use", async () => {
  const { port, close } = await neighbours();
  try {
    await served({ port, portsToTry: 50 }, async (server) => {
      assert.ok(server.port > port + 1 && server.port < port + 50, `${server.port} after ${port}`);
      assert.equal(await (await fetch(server.url)).text(), "at once");
    });
    const failing = (portsToTry: number) => served({ port, portsToTry }, () => Promise.resolve());
    const wayOut = "in use; choose another, or 0 for any free one";
    await assert.rejects(failing(2), {
      message: `cannot listen on 127.0.0.1, ports ${port} to ${port + 1}: all are ${wayOut}`,
    });
    await assert.rejects(failing(1), { message: `cannot listen on 127.0.0.1, port ${port}: the port is ${wayOut}` });
  } finally {
    await close();
  }
});

test("serve() does not share its port with a second server", () =>
  served({}, ({ port }) =>
    assert.rejects(served({ port }, () => Promise.resolve()), {
      message: `cannot listen on 127.0.0.1, port ${port}: the port is in use; choose another, or 0 for any free one`,
    })));

test("serve() answers at the URL that it tells", () =>
  served({}, async ({ url, port }) => {
    assert.equal(url, `http://127.0.0.1:${port}/`);
    assert.equal(await (await fetch(url)).text(), "at once");
  }));

test("serve() names an IPv6 address in brackets, and localhost for every address", async () => {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all!.map(({ address }) => address));
  const hosts = {
    ...(addresses.includes("::1") && { "::1": "[::1]" }),
    "0.0.0.0": "localhost",
    "localhost": "localhost",
  };
  for (const [hostname, host] of Object.entries(hosts)) {
    await served({ hostname }, async ({ url, port }) => {
      assert.equal(url, `http://${host}:${port}/`);
      assert.equal(await (await fetch(url)).text(), "at once");
    });
  }
});

test("stop() closes waiting connections at once, and lets a request under way finish", () =>
  served({}, async ({ port, stop }, release) => {
    const idle = await Connection.open(port, get("/"));
    await idle.until(({ received }) => received.endsWith("at once"));
    const slow = await Connection.open(port, get("/slow"));
    await slow.until(({ received }) => received.includes("first part"));
    const stopped = stop(10_000).then(() => "stopped");
    await idle.until(({ isClosed }) => isClosed);
    assert.equal(await Promise.race([stopped, later("waiting")]), "waiting");
    await assert.rejects(Connection.open(port, "").then(refused));
    release();
    await slow.until(({ received }) => received.includes("last part"));
    assert.equal(await stopped, "stopped");
    await slow.until(({ isClosed }) => isClosed);
  }));

/** Deno takes the connection and resets it, which is refusing as well. */
async function refused(connection: Connection): Promise<void> {
  await connection.until(({ isClosed }) => isClosed);
  throw new Error("it was closed");
}

test("stop() does not wait for connections that have not asked for anything", async () => {
  await inFolder(async (folder) => {
    for (const tls of canMakeCertificates ? [undefined, makeCertificate(folder)] : [undefined]) {
      await served({ tls }, async ({ port, stop }) => {
        const fresh = await Connection.open(port, "", { secure: tls !== undefined });
        await later("the server has seen it");
        await stop(60_000);
        fresh.socket.destroy();
      });
    }
  });
});

test(
  "stop() cuts what takes longer than it waits",
  { skip: isDeno && "Deno cuts it with the process" },
  () =>
    served({}, async ({ port, stop }) => {
      const slow = await Connection.open(port, get("/slow"));
      await slow.until(({ received }) => received.includes("first part"));
      await stop(50);
      await slow.until(({ isClosed }) => isClosed);
      assert.ok(!slow.received.includes("last part"));
    }),
);

test("stop() returns after the time that it was given, even where nothing can be cut", () =>
  served({}, async ({ port, stop }) => {
    const slow = await Connection.open(port, get("/slow"));
    await slow.until(({ received }) => received.includes("first part"));
    await stop(50);
    assert.ok(!slow.received.includes("last part"));
  }));

test(
  "serve() speaks TLS with a certificate and its key",
  { skip: !canMakeCertificates && "openssl is missing" },
  () =>
    inFolder((folder) =>
      served({ tls: makeCertificate(folder) }, async ({ port, url }) => {
        assert.equal(url, `https://127.0.0.1:${port}/`);
        const answer = await Connection.open(port, get("/"), { secure: true });
        await answer.until(({ received }) => received.endsWith("at once"));
        assert.match(answer.received, /^HTTP\/1\.1 200 OK\r\n/);
      })
    ),
);

test("serve() says in plain words why it cannot listen", async () => {
  const busy = createServer();
  await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", () => resolve()));
  const bound = busy.address();
  const port = bound !== null && typeof bound === "object" ? bound.port : 0;
  const cases: [Partial<ServeOptions>, RegExp][] = [
    [{ port }, new RegExp(`^cannot listen on 127.0.0.1, port ${port}: the port is in use; choose another`)],
    [{ hostname: "203.0.113.9" }, /^cannot listen on 203.0.113.9, port 0: this machine has no such address$/],
    [{ hostname: "nowhere.invalid" }, /^cannot listen on nowhere.invalid: there is no such host$/],
    [{ hostname: "" }, /^cannot listen: hostname is empty/],
    [{ tls: { cert: "x", key: "y" } }, /^cannot use the certificate: it is not one in PEM format$/],
  ];
  try {
    for (const [options, message] of cases) await assert.rejects(served(options, async () => {}), { message });
  } finally {
    busy.close();
  }
});

test("serve() tells a key that is none from one of another certificate", {
  skip: !canMakeCertificates && "openssl is missing",
}, () =>
  inFolder(async (folder) => {
    const { cert, key } = makeCertificate(folder);
    const other = makeCertificate(folder);
    const none = { message: /^cannot use the key: it is not a private key in PEM format/ };
    await assert.rejects(served({ tls: { cert, key: cert } }, async () => {}), none);
    const wrong = { message: /^cannot use the key: it does not belong to the certificate$/ };
    await assert.rejects(served({ tls: { cert: other.cert, key } }, async () => {}), wrong);
  }));

function later<T>(value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, 200, value));
}
