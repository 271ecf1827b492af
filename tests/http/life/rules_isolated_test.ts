import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import test from "node:test";
import { PRIORITY } from "../../../lib/http/h2/protocol.ts";
import { HttpClient } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { frame } from "../faults/http2_frames.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import type { Http2PeerStream } from "../faults/http2_peer_stream.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { leavesNothing } from "../leaves_nothing.ts";

const HTTP_1_1_REQUIRED = 0xd;

const echo = (request: ServerRequest): void =>
  whenWhole(request, () => respond(request, 200, Buffer.from(`${request.method} ${request.received}`)));

/** Speaks HTTP/2 to who offers it, and else HTTP/1.1. */
function bilingual(onRequest: (request: ServerRequest, isHttp2: boolean) => void): (socket: Socket) => void {
  return (socket) => {
    const isHttp2 = (socket as TLSSocket).alpnProtocol === "h2";
    const owner = { settings: {}, violations: [], onRequest: (request: ServerRequest) => onRequest(request, isHttp2) };
    void (isHttp2 ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner));
  };
}

const SECURE = { certificate: certificates, alpn: ["h2", "http/1.1"] };

for (const how of ["RST_STREAM", "GOAWAY"] as const) {
  test(`a server that says HTTP_1_1_REQUIRED by ${how} is spoken to in HTTP/1.1, also by a POST`, async () => {
    const protocols: string[] = [];
    const onSocket = bilingual((request, isHttp2) => {
      protocols.push(isHttp2 ? "h2" : "http/1.1");
      if (!isHttp2) return echo(request);
      if (how === "RST_STREAM") request.reset(HTTP_1_1_REQUIRED);
      else (request as Http2PeerStream).peer.goaway(0, HTTP_1_1_REQUIRED);
    });
    await leavesNothing({ client: { retries: 0 }, listener: SECURE, onSocket }, async ({ client, url }) => {
      for (let i = 0; i < 3; i++) {
        const response = await client.fetch(url, { method: "POST", body: "four" });
        assert.equal(await response.text(), "POST 4");
      }
      assert.deepEqual(protocols, ["h2", "http/1.1", "http/1.1", "http/1.1"]);
      assert.equal(client.stats().origins[0].protocol, "http/1.1");
    });
  });
}

for (
  const [what, id, size, code] of [["the connection", 0, 5, "PROTOCOL_ERROR"], [
    "4 bytes",
    1,
    4,
    "PROTOCOL_ERROR",
  ]] as const
) {
  test(`PRIORITY of ${what} is an error`, () =>
    leavesNothing({
      client: { h2c: true, retries: 0 },
      onSocket: (socket) =>
        void new Http2Peer(socket, {
          settings: {},
          violations: [],
          onRequest: ({ peer }) => peer.send(frame(PRIORITY, 0, id, Buffer.alloc(size))),
        }),
    }, async ({ client, url }) => {
      assert.equal(await failureOf(client.fetch(url)), code);
    }));
}

test("`connection: close` is sent, and ends the connection after the response", async () => {
  const fields: (string | undefined)[] = [];
  let sockets = 0;
  await leavesNothing({
    client: { connections: 1, pipelining: 10 },
    onSocket: (socket) => {
      sockets++;
      bilingual((request) => {
        fields.push(request.fields.get("connection"));
        echo(request);
      })(socket);
    },
  }, async ({ client, url }) => {
    const headers = { connection: "x-hop, Close", "x-hop": "dropped" };
    const all = [client.fetch(url), client.fetch(url, { headers }), client.fetch(url), client.fetch(url)];
    for (const response of all) assert.equal(await (await response).text(), "GET 0");
    assert.deepEqual(fields, ["keep-alive", "close", "keep-alive", "keep-alive"]);
    assert.equal(sockets, 2);
  });
});

test("`connection: close` has no meaning in HTTP/2", () =>
  leavesNothing({
    listener: SECURE,
    onSocket: bilingual((request) => {
      assert.equal(request.fields.get("connection"), undefined);
      echo(request);
    }),
  }, async ({ client, url }) => {
    for (let i = 0; i < 2; i++) await (await client.fetch(url, { headers: { connection: "close" } })).text();
    assert.equal(client.stats().connections, 1);
  }));

const expecting = { method: "POST", headers: { expect: "100-continue" } };
const bodies: Record<string, () => BodyInit> = {
  "a text": () => "four",
  "a stream": () => new ReadableStream({ pull: (c) => (c.enqueue(Buffer.from("four")), c.close()) }),
};

for (const protocol of ["http/1.1", "h2c"] as const) {
  /** Sends an informational response. */
  const inform = (request: ServerRequest): void => {
    if (protocol === "h2c") (request as Http2PeerStream).peer.sendHead((request as Http2PeerStream).id, 100, {});
    else request.socket.write("HTTP/1.1 100 Continue\r\n\r\n");
  };
  const server = (onRequest: (request: ServerRequest) => void) => ({
    client: { h2c: protocol === "h2c", retries: 0 },
    onSocket: (socket: Socket): void => {
      const owner = { settings: {}, violations: [], onRequest };
      void (protocol === "h2c" ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner));
    },
  });

  for (const [what, make] of Object.entries(bodies)) {
    test(`with \`expect: 100-continue\` ${what} is sent once the server says so (${protocol})`, async () => {
      let early = -1;
      await leavesNothing(
        server((request) => {
          assert.equal(request.fields.get("expect"), "100-continue");
          setTimeout(() => {
            early = request.received;
            inform(request);
          }, 50);
          echo(request);
        }),
        async ({ client, url }) => {
          assert.equal(await (await client.fetch(url, { ...expecting, body: make() })).text(), "POST 4");
          assert.equal(early, 0);
        },
      );
    });

    test(`with \`expect: 100-continue\` ${what} is not sent if the server says no (${protocol})`, async () => {
      const requests: ServerRequest[] = [];
      await leavesNothing(
        server((request) => {
          requests.push(request);
          respond(request, 417, Buffer.from("no"));
        }),
        async ({ client, url }) => {
          const response = await client.fetch(url, { ...expecting, body: make() });
          assert.equal(response.status, 417);
          assert.equal(await response.text(), "no");
          assert.equal(requests[0].received, 0);
        },
      );
    });

    test(`with \`expect: 100-continue\` ${what} is sent all the same if the server says nothing (${protocol})`, () =>
      leavesNothing(server(echo), async ({ client, url }) => {
        assert.equal(await (await client.fetch(url, { ...expecting, body: make() })).text(), "POST 4");
      }));

    test(`with \`expect: 100-continue\` an abort ends ${what} that waits (${protocol})`, () =>
      leavesNothing(server(() => {}), async ({ client, url }) => {
        const signal = AbortSignal.timeout(50);
        await assert.rejects(client.fetch(url, { ...expecting, body: make(), signal }), { name: "TimeoutError" });
      }));
  }

  test(`without a body there is no \`expect: 100-continue\` (${protocol})`, () =>
    leavesNothing(
      server((request) => {
        assert.equal(request.fields.get("expect"), undefined);
        echo(request);
      }),
      async ({ client, url }) => {
        assert.equal(await (await client.fetch(url, expecting)).text(), "POST 0");
      },
    ));
}

test("ports that fetch forbids are refused, also in redirects", () =>
  leavesNothing({
    onSocket: bilingual((request) => respond(request, 302, Buffer.from(""), { location: "http://127.0.0.1:6667/" })),
  }, async ({ client, url }) => {
    for (const port of [1, 22, 25, 6000, 10080]) {
      assert.equal(await failureOf(client.fetch(`http://127.0.0.1:${port}/`)), "INVALID_URL");
    }
    assert.equal(await failureOf(client.fetch(url)), "REDIRECT_FAILED");
  }));

test("ports that fetch forbids are refused before anything is sent", async () => {
  const client = new HttpClient();
  await assert.rejects(client.fetch("http://127.0.0.1:25/", { method: "POST", body: "HELO" }), /port 25/);
  await client.close();
});
