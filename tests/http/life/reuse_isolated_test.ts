import assert from "node:assert/strict";
import test from "node:test";
import { within } from "../../support/waits.ts";
import { echoPath, trial } from "../faults/trial.ts";
import { leavesNothing } from "../leaves_nothing.ts";

for (const protocol of ["http/1.1", "http/1.1 over TLS"] as const) {
  test(`reuse: false: over ${protocol} each request has a connection, and says so`, () =>
    trial(protocol, { client: { reuse: false }, onRequest: echoPath }, async ({ client, origin, url }) => {
      for (const path of ["/1", "/2", "/3"]) assert.equal(await (await client.fetch(url(path))).text(), path);
      await Promise.all([4, 5, 6].map(async (n) => assert.equal((await client.fetch(url(`/${n}`))).status, 200)));
      assert.equal(origin.listener.accepted, 6);
      assert.deepEqual(new Set(origin.requests.map(({ fields }) => fields.get("connection"))), new Set(["close"]));
    }));
}

for (const protocol of ["h2", "h2c"] as const) {
  test(`reuse: false: requests share a session of ${protocol}, whose responses say which they are for`, () =>
    trial(protocol, { client: { reuse: false }, onRequest: echoPath }, async ({ client, origin, url }) => {
      for (const path of ["/1", "/2", "/3"]) assert.equal(await (await client.fetch(url(path))).text(), path);
      assert.equal(origin.peers.length, 1);
    }));
}

test("reuse: false: what a server sends behind a response, whenever that is, meets no other request", () => {
  const say = (text: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  return leavesNothing({
    client: { reuse: false },
    onSocket: (socket) => {
      socket.on("data", (chunk) => {
        const path = String(chunk).split(" ")[1];
        socket.write(say(path));
        if (path.startsWith("/twice")) setTimeout(() => socket.write(say("second")), Number(path.slice(7)));
      });
    },
  }, async ({ client, url }) => {
    for (const wait of [0, 1, 2, 3, 5, 10]) {
      assert.equal(await (await client.fetch(`${url}/twice/${wait}`)).text(), `/twice/${wait}`);
      for (let i = 0; i < 10; i++) {
        const response = await within(client.fetch(`${url}/${i}`), "the next response");
        assert.equal(await response.text(), `/${i}`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
  });
});
