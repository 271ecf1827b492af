import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { LookupFunction, Socket } from "node:net";
import test from "node:test";
import type { HttpClientOptions } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { Listener } from "../faults/listener.ts";
import { respond } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { leavesNothing, type Scene } from "../leaves_nothing.ts";

type Found = Parameters<LookupFunction>[2];

/** A server for one.test and two.test, and a look-up of the client that a test can bend. */
async function twoNames(
  options: HttpClientOptions & { resolve: (host: string, count: number, found: Found) => void },
  act: (scene: Scene & { one: string; two: string; lookups: string[]; sessions(): number }) => Promise<void>,
): Promise<void> {
  const { resolve, ...client } = options;
  const lookups: string[] = [];
  const lookup: LookupFunction = (host, _, found) => {
    lookups.push(host);
    resolve(host, lookups.filter((each) => each === host).length, found);
  };
  const { cert, key } = certificates.twoNames;
  let sessions = 0;
  const onSocket = (socket: Socket): void => {
    sessions++;
    const owner = {
      settings: {},
      violations: [],
      onRequest: (request: Parameters<typeof respond>[0] & { fields: ReadonlyMap<string, string> }) =>
        respond(request, 200, Buffer.from(request.fields.get(":authority")!)),
    };
    new Http2Peer(socket, owner);
  };
  await leavesNothing({
    client: { lookup, tls: { ca: certificates.ca }, ...client },
    listener: { certificate: { cert, key }, alpn: ["h2"] },
    onSocket,
  }, async (scene) => {
    const [one, two] = ["one", "two"].map((name) => `https://${name}.test:${scene.listener.port}`);
    const response = await scene.client.fetch(one);
    assert.equal(await response.text(), new URL(one).host);
    await act({ ...scene, one, two, lookups, sessions: () => sessions });
  });
}

const HERE = [{ address: "127.0.0.1", family: 4 }];
const ELSEWHERE = [{ address: "127.0.0.99", family: 4 }];

test("without `coalesce` each origin has connections of its own, whatever the certificate covers", () =>
  twoNames({ resolve: (_, __, found) => found(null, HERE) }, async ({ client, two, lookups, sessions }) => {
    assert.equal(await (await client.fetch(two)).text(), new URL(two).host);
    assert.equal(sessions(), 2);
    assert.deepEqual(lookups, ["one.test", "two.test"]);
  }));

test("with `coalesce` a session also carries another origin that its certificate and address are for", () =>
  twoNames(
    { coalesce: true, resolve: (_, __, found) => found(null, HERE) },
    async ({ client, two, lookups, sessions }) => {
      for (let i = 0; i < 3; i++) assert.equal(await (await client.fetch(two)).text(), new URL(two).host);
      assert.equal(sessions(), 1);
      assert.deepEqual(lookups, ["one.test", "two.test"]);
    },
  ));

test("with `coalesce` an origin at another address is connected to after one look-up", () =>
  twoNames({
    coalesce: true,
    resolve: (host, count, found) => found(null, host === "two.test" && count === 1 ? ELSEWHERE : HERE),
  }, async ({ client, two, lookups, sessions }) => {
    assert.equal(await (await client.fetch(two)).text(), new URL(two).host);
    assert.equal(sessions(), 2);
    assert.deepEqual(lookups, ["one.test", "two.test", "two.test"]);
  }));

test("with `coalesce` an origin that cannot be reached at its other address fails", () =>
  twoNames({
    coalesce: true,
    connectTimeout: 1000,
    resolve: (host, _, found) => found(null, host === "two.test" ? ELSEWHERE : HERE),
  }, async ({ client, two, lookups }) => {
    for (let i = 0; i < 3; i++) assert.match(await failureOf(client.fetch(two)), /CONNECTION_REFUSED|CONNECT_TIMEOUT/);
    // One for the certificate's sake, which is remembered; and one for each connection.
    assert.equal(lookups.filter((host) => host === "two.test").length, 4);
  }));

test("with `coalesce` a look-up that fails is remembered, and the connection says what failed", () =>
  twoNames({
    coalesce: true,
    resolve: (host, _, found) =>
      host === "two.test"
        ? found(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), "")
        : found(null, HERE),
  }, async ({ client, two, lookups }) => {
    for (let i = 0; i < 2; i++) assert.equal(await failureOf(client.fetch(two)), "DNS_FAILED");
    assert.equal(lookups.filter((host) => host === "two.test").length, 3);
  }));

test("with `coalesce` an origin whose session is full connects, if the session with room is at another address", async () => {
  const { cert, key } = certificates.twoNames;
  const held: Parameters<typeof respond>[0][] = [];
  const onSocket = (socket: Socket): void => {
    new Http2Peer(socket, {
      settings: {},
      violations: [],
      onRequest: (request) => {
        if (request.path === "/held") held.push(request);
        else respond(request, 200, Buffer.from(`${request.fields.get(":authority")} at ${socket.localAddress}`));
      },
    });
  };
  const there = new Listener({ certificate: { cert, key }, alpn: ["h2"], address: "127.0.0.2" }, onSocket);
  let isFirst = true;
  const lookup: LookupFunction = (host, _, found) => {
    const address = host === "two.test" || isFirst ? "127.0.0.1" : "127.0.0.2";
    isFirst = false;
    found(null, [{ address, family: 4 }]);
  };
  await leavesNothing({
    client: { coalesce: true, lookup, tls: { ca: certificates.ca }, connections: 2, maxConcurrentStreams: 1 },
    listener: { certificate: { cert, key }, alpn: ["h2"] },
    onSocket,
  }, async ({ client, listener }) => {
    there.port = listener.port;
    await there.start();
    const [one, two] = ["one", "two"].map((name) => `https://${name}.test:${listener.port}`);
    const first = client.fetch(`${one}/held`);
    assert.match(await (await client.fetch(one)).text(), /at 127.0.0.2$/);
    assert.equal(await (await client.fetch(two)).text(), `${new URL(two).host} at 127.0.0.1`);
    held.forEach((request) => respond(request, 200, Buffer.from("held")));
    await (await first).text();
  }).finally(() => there.stop());
});

test("with `coalesce` addresses in the URL need no look-up without end", () =>
  leavesNothing({
    client: { coalesce: true, tls: { ca: certificates.ca }, connectTimeout: 1000 },
    listener: { certificate: certificates, alpn: ["h2"] },
    onSocket: (socket) =>
      void new Http2Peer(socket, {
        settings: {},
        violations: [],
        onRequest: (request) => respond(request, 200, Buffer.from("x")),
      }),
  }, async ({ client, listener }) => {
    await (await client.fetch(`https://127.0.0.1:${listener.port}/`)).text();
    // The certificate is for ::1 too, where nobody listens.
    assert.match(
      await failureOf(client.fetch(`https://[::1]:${listener.port}/`)),
      /CONNECTION_REFUSED|CONNECT_TIMEOUT|CONNECTION_LOST/,
    );
  }));

test("a look-up for `coalesce` that never answers ends within `connectTimeout`", () =>
  twoNames({
    coalesce: true,
    connectTimeout: 100,
    resolve: (host, count, found) => {
      if (host !== "two.test" || count > 1) found(null, HERE);
    },
  }, async ({ client, two, sessions }) => {
    assert.equal(await (await client.fetch(two)).text(), new URL(two).host);
    assert.equal(sessions(), 2);
  }));

test("a look-up for `coalesce` ends with the last request that waits for it", () =>
  twoNames({
    coalesce: true,
    connectTimeout: 0,
    resolve: (host, _, found) => {
      if (host !== "two.test") found(null, HERE);
    },
  }, async ({ client, two }) => {
    const controllers = [new AbortController(), new AbortController()];
    const responses = controllers.map(({ signal }) => client.fetch(two, { signal }));
    controllers.forEach((controller) => controller.abort(new Error("given up")));
    for (const response of responses) await assert.rejects(response, /given up/);
  }));

test("a look-up for `coalesce` ends with destroy()", () =>
  twoNames({
    coalesce: true,
    connectTimeout: 0,
    resolve: (host, _, found) => {
      if (host !== "two.test") found(null, HERE);
    },
  }, async ({ client, two }) => {
    const response = client.fetch(two);
    client.destroy();
    assert.equal(await failureOf(response), "CLIENT_CLOSED");
  }));
