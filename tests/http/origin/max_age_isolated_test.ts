import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { LookupFunction, Socket } from "node:net";
import test from "node:test";
import type { HttpClientOptions } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { Listener } from "../faults/listener.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { leavesNothing } from "../leaves_nothing.ts";
import { until, within } from "../../support/waits.ts";

const { cert, key } = certificates;

/** Two machines of which a name leads to the first at first, and then to the other. */
interface Move {
  readonly fetch: (path: string) => Promise<Response>;
  readonly move: () => void;
  /** Requests that take long, as servers have them. */
  readonly long: ServerRequest[];
  readonly machines: readonly Listener[];
  readonly lookups: () => number;
}

function moving(
  protocol: "http/1.1" | "h2",
  options: HttpClientOptions,
  act: (move: Move) => Promise<void>,
): Promise<void> {
  const long: ServerRequest[] = [];
  const serve = (name: string) => (socket: Socket): void => {
    const onRequest = (request: ServerRequest): void => {
      if (request.path !== "/long") return respond(request, 200, Buffer.from(name));
      long.push(request);
      request.head(200);
      request.data(Buffer.from("first "));
    };
    const owner = { settings: {}, violations: [], onRequest };
    void (protocol === "h2" ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner));
  };
  let address = "127.0.0.1";
  let lookups = 0;
  const lookup: LookupFunction = (_host, _options, callback) => {
    lookups++;
    callback(null, [{ address, family: 4 }]);
  };
  const listener = { certificate: { cert, key }, alpn: [protocol] };
  const client = { lookup, retries: 0, ...options };
  return leavesNothing({ client, listener, onSocket: serve("one") }, async ({ client, listener: one, url }) => {
    const two = new Listener({ ...listener, address: "127.0.0.2" }, serve("two"));
    two.port = one.port;
    await two.start();
    try {
      const fetch = (path: string): Promise<Response> =>
        within(client.fetch(`${url.replace("127.0.0.1", "localhost")}${path}`), path);
      const move = (): void => void (address = "127.0.0.2");
      await act({ fetch, move, long, machines: [one, two], lookups: () => lookups });
      await client.close();
      await until(() => two.sockets.size === 0, "the end of the second machine's sockets");
    } finally {
      await two.stop();
    }
  });
}

for (const protocol of ["http/1.1", "h2"] as const) {
  test(`maxAge: ${protocol}: a client that is never idle follows a name that moves, and loses no request`, () =>
    moving(protocol, { maxAge: 50 }, async ({ fetch, move, machines: [one, two], lookups }) => {
      assert.equal(await (await fetch("/")).text(), "one");
      move();
      // So many requests at a time that hardly any connection is ever idle.
      const lane = async (): Promise<void> => {
        const isThere = async (): Promise<boolean> => await (await fetch("/")).text() === "two";
        await until(async () => await isThere() && one.sockets.size === 0, "answers of the other machine alone");
      };
      await Promise.all(Array.from({ length: 8 }, lane));
      assert.ok(lookups() >= one.accepted + two.accepted);
    }));

  test(`maxAge: ${protocol}: a connection that is too old ends its requests, others go on a new one, if there may be one at a time too`, () =>
    moving(protocol, { maxAge: 50, connections: 1 }, async ({ fetch, move, long, machines: [one] }) => {
      const response = await fetch("/long");
      const first = [...one.sockets][0]!;
      move();
      await until(async () => await (await fetch("/")).text() === "two", "an answer of the other machine");
      assert.equal(first.destroyed, false);
      long[0]!.data(Buffer.from("second"));
      long[0]!.end();
      assert.equal(await within(response.text(), "the long response"), "first second");
      await until(() => one.sockets.size === 0, "the end of the old connection");
    }));

  test(`maxAge: ${protocol}: an old connection that is idle is closed, and none is with 0`, async () => {
    await moving(protocol, { maxAge: 20 }, async ({ fetch, machines: [one] }) => {
      await (await fetch("/")).text();
      await until(() => one.sockets.size === 0, "the end of the connection");
    });
    await moving(protocol, { maxAge: 0, connections: 1 }, async ({ fetch, machines: [one], lookups }) => {
      for (let i = 0; i < 20; i++) await (await fetch("/")).text();
      assert.deepEqual([one.accepted, lookups()], [1, 1]);
    });
  });
}
