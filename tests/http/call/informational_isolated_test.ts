import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { PROTOCOLS, scene } from "../scene.ts";

function hint(request: ServerRequest): void {
  request.inform(103, { link: "</style.css>; rel=preload" });
  request.inform(102);
  respond(request, 200, Buffer.from("page"));
}

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  test(name("onInformational is told of each 1xx response, before the response comes"), async () => {
    const told: string[] = [];
    const onInformational = (status: number, headers: Headers): void => {
      assert.ok(headers instanceof Headers);
      told.push(`${status} ${headers.get("link")}`);
    };
    await scene(protocol, { onInformational }, hint, async ({ client, url }) => {
      const response = await client.fetch(`${url}/`);
      assert.deepEqual(told, ["103 </style.css>; rel=preload", "102 null"]);
      assert.equal(await response.text(), "page");
      const own: number[] = [];
      await (await client.fetch(`${url}/`, { onInformational: (status) => void own.push(status) })).text();
      assert.deepEqual(own, [103, 102]);
      assert.equal(told.length, 2);
    });
  });

  test(name("onInformational may abort the request"), () =>
    scene(protocol, {}, hint, async ({ client, url }) => {
      const controller = new AbortController();
      const init = { signal: controller.signal, onInformational: () => controller.abort("seen enough") };
      await assert.rejects(client.fetch(`${url}/`, init), (reason) => reason === "seen enough");
    }));

  test(name("onInformational is told of 100 (Continue), and the body is sent"), () =>
    scene(protocol, {}, (request) => {
      assert.equal(request.received, 0);
      request.onWhole = () => respond(request, 200, Buffer.from(String(request.received)));
      request.inform(100);
    }, async ({ client, url }) => {
      const told: number[] = [];
      const init = {
        method: "POST",
        body: "grain",
        headers: { expect: "100-continue" },
        onInformational: (status: number) => void told.push(status),
      };
      assert.equal(await (await client.fetch(`${url}/`, init)).text(), "5");
      assert.deepEqual(told, [100]);
    }));

  test(name("a request has at most 1000 informational responses"), () =>
    scene(protocol, {}, (request) => {
      for (let i = 0; i < 1001; i++) request.inform(103);
    }, async ({ client, url }) => {
      let told = 0;
      const onInformational = (): void => void told++;
      // The number of such responses in a session is also limited, and that limit may be reached first.
      const code = await failureOf(client.fetch(`${url}/`, { onInformational }));
      assert.ok(code === "LIMIT_EXCEEDED" || (protocol === "h2c" && code === "PROTOCOL_ERROR"), code);
      assert.ok(told <= 1000);
    }));

  test(
    name("fields of informational responses have maxHeaderSize bytes together"),
    () =>
      scene(protocol, { maxHeaderSize: 4096 }, (request) => {
        for (let i = 0; i < 5; i++) request.inform(103, { link: "x".repeat(1000) });
      }, async ({ client, url }) => {
        let told = 0;
        const init = { onInformational: () => void told++ };
        assert.equal(await failureOf(client.fetch(`${url}/`, init)), "LIMIT_EXCEEDED");
        assert.equal(told, 4);
      }),
  );
}
