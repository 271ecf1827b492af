import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import type { HttpClient, HttpRequestInit } from "../../../lib/http/mod.ts";
import { Child } from "../faults/child.ts";
import { pause, within } from "../../support/waits.ts";
import { newClient } from "../faults/trial.ts";
import { leavesNothing } from "../leaves_nothing.ts";

/** Asks for a path after whose response the server meddles; returns when it has, and this process has looked at nothing since. */
async function askAndWork(client: HttpClient, url: string, folder: string, init: HttpRequestInit): Promise<void> {
  const file = join(folder, crypto.randomUUID());
  const response = await client.fetch(url, { ...init, headers: { tell: file } });
  assert.equal(await response.text(), new URL(url).pathname);
  const start = performance.now();
  // For 5 ms at least: that the connection has been closed is not seen in the very turn of the response.
  while (performance.now() - start < 5 || !existsSync(file)) {
    assert.ok(performance.now() - start < 60_000, "the server did not meddle");
  }
}

async function meddled(
  kind: "tcp" | "tls",
  act: (client: HttpClient, origin: string, folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-idle-"));
  const server = new Child(new URL("./meddling_server.ts", import.meta.url), [kind]);
  const client = newClient({ retries: 0 });
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

for (const kind of ["tcp", "tls"] as const) {
  test(`what came on an idle connection of ${kind} is no response to the next request`, () =>
    meddled(kind, async (client, origin, folder) => {
      for (let i = 0; i < 20; i++) {
        await askAndWork(client, `${origin}/poisoned`, folder, {});
        assert.equal(await (await client.fetch(`${origin}/second`)).text(), "/second");
        if (i % 2 === 1) await pause(3);
      }
    }));

  test(`a POST on a connection of ${kind} that the server has closed meanwhile goes out on another`, () =>
    meddled(kind, async (client, origin, folder) => {
      const init = { method: "POST", body: "x" };
      for (let i = 0; i < 10; i++) {
        await askAndWork(client, `${origin}/closed`, folder, init);
        assert.equal(await (await client.fetch(`${origin}/second`, init)).text(), "/second");
      }
    }));
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
