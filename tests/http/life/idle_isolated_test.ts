import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import test from "node:test";
import type { HttpClient, HttpClientOptions, HttpConnectFunction, HttpRequestInit } from "../../../lib/http/mod.ts";
import { Child } from "../faults/child.ts";
import { pause, within } from "../../support/waits.ts";
import { newClient } from "../faults/trial.ts";
import { leavesNothing } from "../leaves_nothing.ts";

const nothing = new Int32Array(new SharedArrayBuffer(4));

/**
 * Requests a path after whose response the server sends more or disconnects; returns before this process could notice.
 */
async function askAndWork(
  client: HttpClient,
  url: string,
  folder: string,
  { waits, ...init }: HttpRequestInit & { waits: boolean },
): Promise<void> {
  const file = join(folder, crypto.randomUUID());
  const response = await client.fetch(url, { ...init, headers: { tell: file } });
  assert.equal(await response.text(), init.method === "HEAD" ? "" : new URL(url).pathname);
  if (waits) await pause(3); // the event loop looks at a connection that is silent as yet
  for (const start = performance.now(); !existsSync(file);) {
    assert.ok(performance.now() - start < 60_000, "the server did not meddle");
    Atomics.wait(nothing, 0, 0, 1); // unlike a pause it keeps the event loop from its turn
  }
}

/** Connects by a stream that forwards its input at once, as a tunnel does. */
const byDuplex: HttpConnectFunction = ({ hostname, port }) => {
  const socket = connect({ host: hostname, port, noDelay: true });
  return Duplex.from({ readable: socket, writable: socket } as object as NodeJS.ReadWriteStream);
};

async function meddled(
  kind: "tcp" | "tls",
  options: HttpClientOptions,
  act: (client: HttpClient, origin: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-idle-"));
  const server = new Child(new URL("./meddling_server.ts", import.meta.url), [kind]);
  const client = newClient({ retries: 0, ...options });
  try {
    const port = await server.line();
    await within(act(client, `http${kind === "tls" ? "s" : ""}://127.0.0.1:${port}`, folder), "the requests");
    await within(client.close(), "close()");
  } finally {
    client.destroy();
    server.leave();
    await server.ended;
    rmSync(folder, { recursive: true });
  }
}

const MEDDLES = ["poisoned", "half", "line", "garbage", "timeout", "closed", "cut", "together", "HEAD"];

for (
  const [way, kind, options] of [
    ["a socket", "tcp", {}],
    ["TLS", "tls", {}],
    ["a Duplex", "tcp", { connect: byDuplex }],
    ["TLS over a Duplex", "tls", { connect: byDuplex }],
  ] as const
) {
  for (const connections of [1, 8]) {
    test(`over ${way}, what came behind a response meets no other request: ${connections} connections at most`, () =>
      meddled(kind, { ...options, connections }, async (client, origin, folder) => {
        for (const [i, meddle] of [...MEDDLES, ...MEDDLES].entries()) {
          const [method, path] = meddle === "HEAD" ? ["HEAD", "/head"] : ["GET", `/${meddle}`];
          await askAndWork(client, origin + path, folder, { method, waits: i >= MEDDLES.length });
          const init = { method: "POST", body: "x" };
          assert.equal(await (await client.fetch(`${origin}/second`, init)).text(), "/second", meddle);
          assert.equal(await (await client.fetch(`${origin}/third`)).text(), "/third", meddle);
        }
      }));
  }
}

test("a request that is aborted before it was sent on a connection that was kept leaves that to others", async () => {
  let accepted = 0;
  await leavesNothing({
    onSocket: (socket) => {
      accepted++;
      socket.on("data", () => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
    },
  }, async ({ client, url }) => {
    await (await client.fetch(url)).text();
    await pause(5);
    const controller = new AbortController();
    const aborted = client.fetch(url, { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await assert.rejects(aborted, /changed my mind/);
    assert.equal(await (await client.fetch(url)).text(), "ok");
    assert.equal(accepted, 1);
  });
});
