import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { gzipSync } from "node:zlib";
import type { HttpClient, HttpRequestInit } from "../../../lib/http/mod.ts";
import { pause, until, within } from "../../support/waits.ts";
import { Child } from "../faults/child.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { failureOf, newClient } from "../faults/trial.ts";
import { Origin } from "../faults/origin.ts";
import { PROTOCOLS } from "../scene.ts";

/** A body that is larger than a window and the sockets' buffers together. */
const LARGE = Buffer.alloc(8 << 20, "grist ");

function answer(request: ServerRequest): void {
  if (request.path === "/fine") return respond(request, 200, Buffer.from("fine"));
  if (request.path === "/large") return respond(request, 200, LARGE);
  if (request.path === "/coded") return respond(request, 200, gzipSync(LARGE), { "content-encoding": "gzip" });
  if (request.path === "/late") return void setTimeout(() => respond(request, 200, Buffer.from("late")), 100);
  request.head(200);
  request.data(Buffer.from("and then"));
}

/** The states in which a program can leave a response. */
const UNREAD: Record<string, (response: Response) => unknown> = {
  "untouched": () => {},
  "looked at": (response) => response.body,
  "locked": (response) => response.body!.getReader(),
  "read of": (response) => response.body!.getReader().read(),
  "cloned": (response) => response.clone(),
  "cloned, and one of both cancelled": (response) => response.clone().body!.cancel().catch(() => {}),
};

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  const withOrigin = async (
    act: (client: HttpClient, url: string) => Promise<void>,
    closeTimeout = 20,
  ): Promise<void> => {
    const origin = await new Origin(protocol).start();
    origin.onRequest = answer;
    const client = newClient({ h2c: protocol === "h2c", closeTimeout });
    try {
      await act(client, origin.url);
      await until(() => origin.listener.sockets.size === 0, "the end of all sockets");
      assert.equal(client.stats().connections, 0);
    } finally {
      client.destroy();
      await origin.stop();
    }
  };

  for (const [how, use] of Object.entries(UNREAD)) {
    test(
      name(`close() cancels a response that is not read within \`closeTimeout\`: ${how}`),
      () =>
        withOrigin(async (client, url) => {
          for (const path of ["/large", "/coded", "/stalls"]) await use(await client.fetch(url + path));
          const init: HttpRequestInit = { intercept: [(request, next) => next(request)] };
          const response = await client.fetch(`${url}/large`, init);
          await within(client.close(), "close()");
          const error = await response.text().then(() => undefined, (reason) => reason);
          assert.equal(error?.code, "CLIENT_CLOSED");
          assert.match(error.message, /\/large was not read for 20 ms \(closeTimeout\)/);
        }),
    );
  }

  test(name("close() waits for a response that is read, however slowly"), () =>
    withOrigin(async (client, url) => {
      const responses = [await client.fetch(`${url}/large`), await client.fetch(`${url}/coded`)];
      const closed = client.close();
      const lengths = responses.map(async ({ body }) => {
        const reader = body!.getReader({ mode: "byob" });
        let length = 0;
        for (let view = new Uint8Array(512 * 1024);;) {
          await pause(20);
          const { done, value } = await reader.read(view);
          if (done) return length;
          length += value.length;
          view = new Uint8Array(value.buffer);
        }
      });
      assert.deepEqual(await Promise.all(lengths), [LARGE.length, LARGE.length]);
      await within(closed, "close()");
    }, 800));

  test(
    name("close() waits for a response that is late, and for its reader, whatever `closeTimeout` is"),
    () =>
      withOrigin(async (client, url) => {
        const late = client.fetch(`${url}/late`);
        const stalls = await client.fetch(`${url}/stalls`, { bodyTimeout: 200 });
        const failure = failureOf(stalls.text());
        const closed = client.close();
        assert.equal(await (await late).text(), "late");
        assert.equal(await failure, "BODY_TIMEOUT");
        await within(closed, "close()");
      }, 10),
  );

  test(
    name("with `closeTimeout: 0` close() waits until the response is read or cancelled"),
    () =>
      withOrigin(async (client, url) => {
        const response = await client.fetch(`${url}/stalls`);
        let isClosed = false;
        const closed = client.close().then(() => void (isClosed = true));
        await pause(100);
        assert.equal(isClosed, false);
        await response.body!.cancel();
        await within(closed, "close()");
      }, 0),
  );
}

test("a program that leaves the block of a client with a response unread ends by itself", async () => {
  const origin = await new Origin("http/1.1").start();
  origin.onRequest = answer;
  const child = new Child(new URL("close_unread.ts", import.meta.url), [`${origin.url}/stalls`]);
  try {
    assert.equal(await within(child.line(), "the response"), "200");
    assert.equal(await within(child.line(), "the end of the block"), "left");
    assert.equal(await within(child.ended, "the end of the process"), 0);
  } finally {
    child.kill();
    await origin.stop();
  }
});
