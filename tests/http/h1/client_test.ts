import assert from "node:assert/strict";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { HttpClient, type HttpClientOptions } from "../../../lib/http/mod.ts";

/** A server's handler of the nth request of a socket; `text` is its head and any data received with it. */
type Script = (socket: Socket, text: string, n: number) => void;

interface Scene {
  readonly client: HttpClient;
  readonly url: string;
  /** Sockets that were accepted. */
  readonly sockets: Set<Socket>;
}

/** Runs a test with a client and a server that sends the script's bytes, valid or not. */
async function withServer(
  script: Script,
  options: HttpClientOptions,
  test: (scene: Scene) => Promise<void>,
): Promise<void> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    let n = 0;
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      for (const text of String(chunk).split(/(?=GET |POST )/)) script(socket, text, n++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new HttpClient(options);
  const { port } = server.address() as AddressInfo;
  try {
    await test({ client, url: `http://127.0.0.1:${port}/`, sockets });
  } finally {
    client.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("HttpClient over HTTP/1.1", () => {
  it("uses a connection again after responses that were read, and after short ones that nobody read", async () => {
    await withServer((socket) => socket.write(OK), { connections: 1 }, async ({ client, url, sockets }) => {
      for (let i = 0; i < 3; i++) assert.equal(await (await client.fetch(url)).text(), "ok");
      await client.fetch(url);
      await client.fetch(url, { method: "HEAD" }).catch(() => {}); // this server sends a body although none is allowed
      assert.equal(sockets.size, 1);
      assert.equal(await (await client.fetch(url)).text(), "ok");
      assert.equal(sockets.size, 2);
    });
  });

  it("gives up the connection of a response that is cancelled", async () => {
    const script: Script = (socket, _, n) =>
      socket.write(n > 0 ? OK : "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    await withServer(script, {}, async ({ client, url, sockets }) => {
      const response = await client.fetch(url);
      await response.body!.cancel();
      assert.equal((await client.fetch(url)).status, 200);
      assert.equal(sockets.size, 2);
      while ([...sockets][0].readyState === "open") await sleep(5);
    });
  });

  it("makes a connection a request for a server that closes them", async () => {
    const answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    await withServer((socket) => socket.end(answer), {}, async ({ client, url, sockets }) => {
      for (let i = 0; i < 3; i++) assert.equal(await (await client.fetch(url)).text(), "ok");
      assert.equal(sockets.size, 3);
    });
  });

  it("speaks to servers of HTTP/1.0", async () => {
    const answer = "HTTP/1.0 200 OK\r\nX-Old: yes\r\n\r\nuntil the end";
    await withServer((socket) => socket.end(answer), {}, async ({ client, url }) => {
      const response = await client.fetch(url);
      assert.equal(response.headers.get("x-old"), "yes");
      assert.equal(await response.text(), "until the end");
    });
  });

  it("shows headers and the reason phrase as the server sent them", async () => {
    const answer =
      "HTTP/1.1 299 Quite  f\xfcne\r\nSet-Cookie: a=1\r\nX: \xe9\r\nset-cookie: b=2\r\nContent-Length: 0\r\n\r\n";
    await withServer((socket) => socket.write(answer, "latin1"), {}, async ({ client, url }) => {
      const { status, statusText, headers } = await client.fetch(url);
      assert.deepEqual([status, statusText, headers.get("x")], [299, "Quite  f\xfcne", "\xe9"]);
      assert.deepEqual(headers.getSetCookie(), ["a=1", "b=2"]);
    });
  });

  it("waits past informational responses", async () => {
    const answer = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`;
    await withServer((socket) => socket.write(answer), {}, async ({ client, url }) => {
      const response = await client.fetch(url);
      assert.equal(response.headers.get("link"), null);
      assert.equal(await response.text(), "ok");
    });
  });

  it("sends as many requests at once on a connection as pipelining allows, but POSTs alone", async () => {
    let most = 0;
    let waiting: string[] = [];
    const script: Script = (socket, text) => {
      waiting.push(text.slice(0, text.indexOf(" ")));
      if (waiting.length > 1) return;
      setTimeout(() => {
        most = Math.max(most, waiting.length);
        if (waiting.includes("POST")) assert.equal(waiting.length, 1);
        const answers = waiting.map(() => OK);
        waiting = [];
        socket.write(answers.join(""));
      }, 20);
    };
    await withServer(script, { connections: 1, pipelining: 4 }, async ({ client, url, sockets }) => {
      const methods = ["GET", "GET", "GET", "POST", "GET", "GET", "GET", "GET", "GET", "POST"];
      const texts = await Promise.all(methods.map(async (method) => {
        const body = method === "POST" ? "body" : undefined;
        return await (await client.fetch(url, { method, body })).text();
      }));
      assert.deepEqual(texts, methods.map(() => "ok"));
      assert.equal(most, 4);
      assert.equal(sockets.size, 1);
    });
  });

  it("loses no request to a server that closes after each answer, or as soon as another request is pipelined", async () => {
    const close = OK.replace("Content", "Connection: close\r\nContent");
    for (const most of [1, 3, "no pipeline"] as const) {
      const waiting = new Map<Socket, number>();
      const script: Script = (socket, _, n) => {
        const count = (waiting.get(socket) ?? 0) + 1;
        waiting.set(socket, count);
        if (most === "no pipeline" && count > 1) return void socket.destroy();
        setTimeout(() => {
          waiting.set(socket, waiting.get(socket)! - 1);
          if (n + 1 === most) socket.end(close);
          else socket.write(OK);
        }, 5);
      };
      const options = { connections: 1, pipelining: 4, retries: 0 };
      await withServer(script, options, async ({ client, url }) => {
        const texts = Array.from({ length: 12 }, async () => (await client.fetch(url)).text());
        const outcomes = await Promise.allSettled(texts);
        const failed = outcomes.filter(({ status }) => status === "rejected");
        assert.deepEqual(failed, [], String(most));
      });
    }
  });

  it("does not take what a server says without being asked for an answer", async () => {
    const script: Script = (socket, _, n) => {
      socket.write(OK);
      if (n === 0) setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned"), 10);
    };
    await withServer(script, {}, async ({ client, url, sockets }) => {
      assert.equal(await (await client.fetch(url)).text(), "ok");
      await sleep(50);
      assert.equal(await (await client.fetch(url)).text(), "ok");
      assert.equal(sockets.size, 2);
    });
  });

  it("closes connections that nobody uses, before the server does", async () => {
    const answer = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n";
    await withServer((socket) => socket.write(answer), {}, async ({ client, url }) => {
      await client.fetch(url);
      while (client.stats().connections > 0) await sleep(5);
    });
    await withServer((socket) => socket.write(OK), { idleTimeout: 30 }, async ({ client, url }) => {
      await client.fetch(url);
      while (client.stats().connections > 0) await sleep(5);
    });
  });

  it("fails requests whose answers are malformed or too large, and the next one has another connection", async () => {
    const bad = [
      ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!", "PROTOCOL_ERROR"],
      ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "PROTOCOL_ERROR"],
      [`HTTP/1.1 200 OK\r\nA: ${"b".repeat(3000)}\r\n\r\n`, "LIMIT_EXCEEDED"],
      ["HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", "PROTOCOL_ERROR"],
    ];
    for (const [answer, code] of bad) {
      let first = true;
      const script: Script = (socket) => {
        socket.write(first ? answer : OK);
        first = false;
      };
      await withServer(script, { maxHeaderSize: 2000 }, async ({ client, url, sockets }) => {
        await assert.rejects(client.fetch(url), { name: "TypeError", code, origin: url.slice(0, -1) });
        assert.equal(await (await client.fetch(url)).text(), "ok");
        assert.equal(sockets.size, 2);
      });
    }
  });
});
