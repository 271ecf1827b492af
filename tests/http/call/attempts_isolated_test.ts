import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { LookupFunction, Socket } from "node:net";
import test from "node:test";
import { HttpClient, type HttpClientEvent, HttpError } from "../../../lib/http/mod.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { ErrorCode } from "../faults/http2_frames.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import type { Http2PeerStream } from "../faults/http2_peer_stream.ts";
import { Listener } from "../faults/listener.ts";
import { chosenSeed, SeededRandom } from "../faults/seeded_random.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { type ProxyScheme, TestProxy } from "../proxy/test_proxy.ts";
import { type Protocol, PROTOCOLS } from "../scene.ts";
import { tries } from "../../support/long_run.ts";
import { until, within } from "../../support/waits.ts";

const HTTP_1_1_REQUIRED = 13;

/** A server's ways to refuse an attempt; those that HTTP/1.1 can't express cut the connection. */
const REFUSALS: Readonly<Record<string, (request: ServerRequest) => void>> = {
  cut: (request) => void request.socket.destroy(),
  end: (request) => void request.socket.end(),
  refuse: (request) => request.reset(ErrorCode.refusedStream),
  reset: (request) => request.reset(ErrorCode.internal),
  "want HTTP/1.1": (request) => request.reset(HTTP_1_1_REQUIRED),
  "go away": (request) => {
    if ("peer" in request) (request as Http2PeerStream).peer.goaway((request as Http2PeerStream).id - 2);
    else request.socket.destroy();
  },
  busy: (request) => respond(request, 503, Buffer.from("busy"), { "retry-after": "0" }),
  misdirected: (request) => respond(request, 421, Buffer.from("elsewhere")),
  redirect: (request) => respond(request, 307, Buffer.from(""), { location: `${request.path}/on` }),
};

/** A request whose every attempt is refused, after some have been answered. */
interface Pill {
  /** The number of connections that are kept when it is made; of HTTP/2, whether one is. */
  readonly kept: number;
  readonly retries: number;
  readonly connections: number;
  readonly pipelining: number;
  readonly method: string;
  readonly idempotent: boolean | undefined;
  readonly body: string | undefined;
  /** The refusals of the attempts, in a cycle. */
  readonly refusals: readonly string[];
}

function randomPill(random: SeededRandom): Pill {
  const method = random.pick(["GET", "HEAD", "PUT", "DELETE", "POST"]);
  return {
    kept: random.pick([0, 0, 1, 2, 12]),
    retries: random.pick([0, 0, 1, 2, 4]),
    connections: random.pick([1, 3, 32]),
    pipelining: random.pick([1, 1, 4]),
    method,
    idempotent: random.pick([undefined, true]),
    body: method === "GET" || method === "HEAD" ? undefined : random.pick([undefined, "charge"]),
    refusals: Array.from({ length: 1 + random.below(3) }, () => random.pick(Object.keys(REFUSALS))),
  };
}

/**
 * Makes one request, and compares the number of attempts that the server saw with the number that the client reports.
 */
async function take(protocol: Protocol, way: ProxyScheme | undefined, pill: Pill): Promise<void> {
  let seen = 0;
  let redirects = 0;
  let waiting: ServerRequest[] = [];
  const onRequest = (request: ServerRequest): void => {
    if (request.path.includes("/pill")) {
      const refusal = pill.refusals[seen++ % pill.refusals.length]!;
      if (refusal === "redirect") redirects++;
      return REFUSALS[refusal]!(request);
    }
    waiting.push(request);
    if (waiting.length < Math.min(pill.kept, pill.connections)) return;
    for (const each of waiting) respond(each, 200, Buffer.from("fine"));
    waiting = [];
  };
  const owner = { settings: {}, violations: [], onRequest };
  // A client configured for HTTP/1.1 speaks it at the same port.
  const onSocket = (socket: Socket): void =>
    void socket.once("data", (chunk: Buffer) => {
      if (chunk.toString("latin1").startsWith("PRI")) new Http2Peer(socket, owner);
      else new Http1Peer(socket, owner);
      socket.emit("data", chunk);
    });
  const listener = await new Listener({}, onSocket).start();
  // The proxy must forward unencrypted requests as well.
  const proxy = way && await new TestProxy(way, { lead: () => "127.0.0.1" }).start();
  const sent: HttpClientEvent[] = [];
  let attempts = 0;
  const client = new HttpClient({
    h2c: protocol === "h2c",
    retries: pill.retries,
    connections: pill.connections,
    pipelining: pill.pipelining,
    retryStatuses: [421, 503],
    maxRetryAfter: 20,
    maxRedirects: 3,
    proxy: proxy?.url,
    onEvent: (event) => {
      if (!("url" in event) || !event.url.includes("/pill")) return;
      if (event.type === "request") sent.push(event);
      if (event.type !== "retry") return;
      if (event.attempt === attempts) sent.pop(); // nothing was sent
      attempts = event.attempt;
    },
  });
  try {
    const first = Array.from({ length: Math.min(pill.kept, pill.connections) }, async () => {
      await (await client.fetch(listener.origin, { method: "POST" })).text(); // never on one connection together
    });
    await within(Promise.all(first), "the kept connections");
    const { method, idempotent, body } = pill;
    const ended = client.fetch(`${listener.origin}/pill`, { method, idempotent, body }).then((response) =>
      response.text()
    );
    await within(ended.catch((error) => assert.ok(error instanceof HttpError, error)), "the end of the request");
    const followed = Math.min(redirects, 3);
    assert.ok(seen <= 1 + pill.retries + 1 + followed, `${seen} attempts reached the server`);
    assert.ok(sent.length <= 1 + pill.retries + 1 + followed, `${sent.length} attempts were sent`);
    // Connections that have answered anything may turn out to be stale.
    const mayBeStale = pill.kept > 0 || pill.refusals.some((name) => /busy|misdirected|redirect|want/.test(name));
    if (!mayBeStale) assert.ok(sent.length <= 1 + pill.retries, `${sent.length} attempts, and no connection was stale`);
  } finally {
    client.destroy();
    await until(() => listener.sockets.size === 0, "the end of all sockets");
    await listener.stop();
    await proxy?.stop();
  }
}

const PILLS = tries(80);

for (const protocol of PROTOCOLS) {
  for (const way of [undefined, "http", "socks5"] as const) {
    test(`${protocol}, ${way ?? "no"} proxy: a request has 1 + retries attempts whatever refuses them, and one more if a connection was stale`, async () => {
      const first = chosenSeed();
      for (let seed = first; seed < first + PILLS; seed++) {
        const pill = randomPill(new SeededRandom(seed));
        await take(protocol, way, pill).catch((error) => {
          throw new Error(`MILLRACE_SEED=${seed} repeats ${JSON.stringify(pill)}`, { cause: error });
        });
      }
    });
  }
}

test("after a stale connection a request goes out on a new one, also with `retries: 0`, and others do not wait for that", async () => {
  const kept = new Set<Socket>();
  const attempts: boolean[] = [];
  const waiting: ServerRequest[] = [];
  const owner = {
    violations: [],
    onRequest: (request: ServerRequest): void => {
      if (request.path === "/first") {
        kept.add(request.socket);
        waiting.push(request);
        if (waiting.length === 10) { for (const each of waiting) respond(each, 200, Buffer.from("fine")); }
        return;
      }
      if (request.path === "/again") attempts.push(kept.has(request.socket));
      if (request.path === "/again" && kept.has(request.socket)) request.socket.destroy();
      else respond(request, 200, Buffer.from("fine"));
    },
  };
  let lookups = 0;
  let connects = (): void => {};
  const lookup: LookupFunction = (_host, _options, callback) => {
    const answer = (): void => callback(null, [{ address: "127.0.0.1", family: 4 }]);
    if (++lookups > 10) connects = answer;
    else answer();
  };
  const listener = await new Listener({}, (socket) => void new Http1Peer(socket, owner)).start();
  const client = new HttpClient({ retries: 0, lookup });
  const url = listener.origin.replace("127.0.0.1", "localhost");
  try {
    await Promise.all(Array.from({ length: 10 }, async () => (await client.fetch(`${url}/first`)).text()));
    const again = client.fetch(`${url}/again`, { method: "PUT", body: "charge" });
    await until(() => lookups === 11, "the look-up for a new connection");
    assert.equal(await (await within(client.fetch(`${url}/other`), "another request")).text(), "fine");
    connects();
    assert.equal(await (await within(again, "the request")).text(), "fine");
    assert.deepEqual(attempts, [true, false]);
  } finally {
    client.destroy();
    await listener.stop();
  }
});

test("a request of which nothing was sent when its session ended is sent on another, also with `retries: 0` and before that has answered anything", async () => {
  const peers: Http2Peer[] = [];
  const seen: string[] = [];
  const owner = {
    settings: {},
    violations: [],
    onPeer: (peer: Http2Peer) => void peers.push(peer),
    onRequest: (request: ServerRequest): void => {
      seen.push(request.path);
      if (request.path === "/once") respond(request, 200, Buffer.from("fine"));
    },
  };
  const listener = await new Listener({}, (socket) => void new Http2Peer(socket, owner)).start();
  const told: unknown[] = [];
  const client = new HttpClient({
    h2c: true,
    retries: 0,
    onEvent: (event) => {
      if (!("url" in event) || !event.url.endsWith("/once")) return;
      told.push(event.type === "retry" ? event.attempt : event.type);
      if (told.length > 1) return;
      // The session looks at its socket before it sends the request.
      peers[0].goaway(2 ** 31 - 1);
    },
  });
  try {
    const held = client.fetch(`${listener.origin}/held`).catch(() => {});
    await until(() => seen.length === 1 && client.stats().active === 1, "the request that is held");
    const once = client.fetch(`${listener.origin}/once`, { method: "POST", body: "charge" });
    assert.equal(await (await within(once, "a response")).text(), "fine");
    assert.deepEqual([seen, peers.length], [["/held", "/once"], 2]);
    assert.deepEqual(told, ["request", 0, "request", "response"]);
    client.destroy();
    await held;
  } finally {
    client.destroy();
    await listener.stop();
  }
});
