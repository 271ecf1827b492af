import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { HttpError } from "../../../lib/http/mod.ts";
import type { ServerRequest } from "../faults/server_request.ts";
import { within } from "../../support/waits.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const LARGE = Buffer.alloc(3_000_000, "grist ");

/** Answers with trailers after a body. */
function answer(request: ServerRequest, body: Uint8Array, fields: Record<string, string> = {}): void {
  request.head(200, { trailer: "x-sum", ...fields });
  request.data(body);
  request.end({ "x-sum": "42", "x-note": "ground" });
}

async function rejection(trailers: Promise<Headers>): Promise<unknown> {
  return await within(trailers.then(() => assert.fail("trailers came"), (reason) => reason), "trailers");
}

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  test(
    name("response.trailers are the fields after the body"),
    () =>
      scene(protocol, {}, (request) => answer(request, LARGE), async ({ client, url }) => {
        const response = await client.fetch(`${url}/`);
        const { trailers } = response;
        assert.equal((await response.bytes()).length, LARGE.length);
        const fields = await within(trailers, "trailers");
        assert.ok(fields instanceof Headers);
        assert.deepEqual([...fields], [["x-note", "ground"], ["x-sum", "42"]]);
        assert.equal(response.trailers, trailers);
        assert.equal(response.headers.get("x-sum"), null);
        assert.throws(() => fields.set("x-sum", "43"), TypeError);
      }),
  );

  test(name("response.trailers can be asked for when the body is over, of a decoded body and of clones"), () =>
    scene(
      protocol,
      {},
      (request) => answer(request, gzipSync("flour"), { "content-encoding": "gzip" }),
      async ({ client, url }) => {
        const response = await client.fetch(`${url}/`);
        const copy = response.clone();
        assert.deepEqual(await Promise.all([response.text(), copy.text()]), ["flour", "flour"]);
        assert.equal((await within(response.trailers, "trailers")).get("x-sum"), "42");
        assert.equal((await within(copy.trailers, "trailers of the clone")).get("x-sum"), "42");
      },
    ));

  test(name("response.trailers are empty where a response has none"), () =>
    scene(protocol, {}, (request) => {
      request.head(request.path === "/204" ? 204 : 200, request.method === "HEAD" ? { "content-length": "3" } : {});
      if (request.method !== "HEAD" && request.path !== "/204") request.data(Buffer.from("abc"));
      request.end();
    }, async ({ client, url }) => {
      for (const [path, method] of [["/", "GET"], ["/204", "GET"], ["/", "HEAD"]]) {
        const response = await client.fetch(url + path, { method });
        await response.text();
        assert.deepEqual([...await within(response.trailers, "trailers")], []);
      }
    }));

  test(
    name("response.trailers reject with what the body fails with, and nobody has to handle that"),
    () => {
      let lose: () => void = () => {};
      return scene(protocol, { bodyTimeout: 50 }, (request) => {
        request.head(200);
        request.data(Buffer.from("abc"));
        if (request.path === "/lost") lose = () => request.reset(2);
      }, async ({ client, url }) => {
        const lost = await client.fetch(`${url}/lost`);
        lose(); // not before: a reset that comes with the head fails the call
        const error = await lost.text().catch((reason) => reason);
        assert.ok(error instanceof HttpError);
        assert.equal(await rejection(lost.trailers), error);

        const late = await client.fetch(`${url}/late`);
        const { trailers } = late;
        const timeout = await late.text().catch((reason) => reason);
        assert.equal(timeout.code, "BODY_TIMEOUT");
        assert.equal(await rejection(trailers), timeout);

        const cancelled = await client.fetch(`${url}/cancelled`);
        await cancelled.body!.cancel("enough");
        assert.equal(await rejection(cancelled.trailers), "enough");

        const controller = new AbortController();
        const aborted = await client.fetch(`${url}/aborted`, { signal: controller.signal });
        void aborted.trailers; // rejects unseen
        controller.abort(new Error("no more"));
        await assert.rejects(aborted.text(), /no more/);
      });
    },
  );
}

test("trailers larger than maxHeaderSize are refused", async () => {
  for (const protocol of PROTOCOLS) {
    await scene(protocol, { maxHeaderSize: 1024 }, (request) => {
      request.head(200);
      request.data(Buffer.from("abc"));
    }, async ({ client, url, requests }) => {
      const response = await client.fetch(`${url}/`);
      requests[0].end({ "x-large": "x".repeat(5000) });
      const error = await response.text().catch((reason) => reason);
      assert.equal(error.code, "LIMIT_EXCEEDED");
      assert.equal(await rejection(response.trailers), error);
    });
  }
});
