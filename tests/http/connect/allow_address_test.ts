import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { LookupFunction, Socket } from "node:net";
import test from "node:test";
import { type HttpAddressUse, HttpClient, type HttpClientOptions, HttpError } from "../../../lib/http/mod.ts";
import { isPublicAddress } from "../../../lib/http/connect/allowed_addresses.ts";
import { certificates } from "../certificates.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { Listener, type ListenerOptions } from "../faults/listener.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { TestProxy } from "../proxy/test_proxy.ts";
import { within } from "../../support/waits.ts";

/** Ranges whose first and last addresses are not public, and the addresses next to them, which are unless another range has them. */
const RANGES:
  readonly (readonly [first: string, last: string, before: string | undefined, after: string | undefined])[] = [
    ["0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
    ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
    ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
    ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
    ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
    ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
    ["192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
    ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
    ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
    ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
    ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
    ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
    ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
    ["224.0.0.0", "255.255.255.255", "223.255.255.255", undefined],
    ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
    ["::", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
    ["64:ff9b::", "64:ff9b::ff:ffff", undefined, "64:ff9b::100:0"],
    ["64:ff9b::7f00:0", "64:ff9b::7fff:ffff", "64:ff9b::7eff:ffff", "64:ff9b::8000:0"],
    ["64:ff9b::a9fe:a9fe", "64:ff9b::169.254.169.254", undefined, undefined],
    ["64:ff9b::1:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, "2000::"],
    ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"],
    ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"],
    ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"],
    ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"],
    ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::", undefined],
    ["fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, undefined],
    ["fe80::", "fe80::1%eth0", undefined, undefined],
    ["::1", "::ffff:8.8.8.8", undefined, undefined],
    ["fd00:ec2::254", "fec0::1", undefined, undefined],
  ];

test('allowAddress: "public" draws the line at the ends of all special ranges', () => {
  for (const [first, last, before, after] of RANGES) {
    for (const address of [first, last]) assert.equal(isPublicAddress(address), false, address);
    for (const address of [before, after]) if (address) assert.equal(isPublicAddress(address), true, address);
  }
  for (const address of ["8.8.8.8", "2606:4700:4700::1111", "2620:4f:8000::1"]) {
    assert.equal(isPublicAddress(address), true, address);
  }
  for (const none of ["", "localhost", "8.8.8", "8.8.8.8:80", "[2606:4700::1]", "2606:4700::1%1"]) {
    assert.equal(isPublicAddress(none), false, none);
  }
});

/** Hosts as URLs may spell them, of which each leads to 127.0.0.1 on a machine that connects to all of them. */
const LOOPBACK: readonly string[] = [
  ...["127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F000001", "017700000001"],
  ...["0177.0.0.1", "0x7f.0.0.1", "0x7f.1", "0177.1", "127.0x0.0.1", "127.0.0x1", "0000000177.0.0.1", "0x7f.0x000001"],
  ...["127.0.0.01", "127.000.000.001", "0177.0x0.1", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "１２７.０.０.１"],
  ...[
    "127。0。0。1",
    "127．0．0．1",
    "127｡1",
    "①②⑦.⓪.⓪.①",
    "𝟏𝟐𝟕.0.0.1",
    "１２７。１",
    "0ｘ7f.1",
    "localhost",
    "LOCALHOST",
  ],
  ...["localhost.", "LocalHost", "ｌocalhost", "private.test", "PRIVATE.test", "both.test"],
];

/** Further addresses that must not be connected to; no server needs to be there. */
const SPECIAL: readonly string[] = [
  ...["0", "0.0.0.0", "0x0", "10.0.0.1", "012.1", "0xa000001", "167772161", "100.64.0.1", "169.254.169.254"],
  ...["2852039166", "0xA9FEA9FE", "0251.0376.0251.0376", "169.254.43518", "172.16.0.1", "192.168.1.1", "3232235777"],
  ...["192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "0xffffffff", "168.63.129.16", "[::]", "[::1]"],
  ...[
    "[0:0:0:0:0:0:0:1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:7F00:0001]",
  ],
  ...["[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]"],
  ...["[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[2001:0:4136:e378::1]"],
  ...["[2001:db8::1]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[5f00::1]"],
  ...["ten.test", "metadata.test", "mapped.test", "zone.test", "nonsense.test", "empty.test", "multicast.test"],
];

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "public.test": ["93.184.215.14"],
  "localhost": ["127.0.0.1"],
  "localhost.": ["127.0.0.1"],
  "private.test": ["127.0.0.1"],
  "both.test": ["127.0.0.1", "::1"],
  "ten.test": ["10.1.2.3", "fd00::1"],
  "metadata.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "zone.test": ["fe80::1%lo"],
  "nonsense.test": ["127.0.0.1.example"],
  "empty.test": [],
  "multicast.test": ["224.0.0.251", "ff02::fb"],
};

/** Resolves as {@link NAMES} says, with all addresses or, as some do, with one. */
function lookupOf(names: Readonly<Record<string, readonly string[]>>, asked: string[] = []): LookupFunction {
  return (host, options, callback) => {
    asked.push(host);
    const found = (names[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    setTimeout(() => {
      if (names[host] === undefined) callback(Object.assign(new Error(`no ${host}`), { code: "ENOTFOUND" }), "");
      else if (options.all) callback(null, found);
      else callback(null, found[0]?.address ?? "", found[0]?.family);
    }, 0);
  };
}

/**
 * Returns a server that answers each request, of the protocol that the client speaks, and leads `/to?URL` elsewhere.
 */
async function serve(options: ListenerOptions = {}, isHttp2 = false): Promise<Listener> {
  const onRequest = (request: ServerRequest): void => {
    const to = /\/to\?(.*)/.exec(request.path)?.[1];
    if (to !== undefined) {
      const location = Buffer.from(decodeURIComponent(to)).toString("latin1");
      respond(request, 302, Buffer.from(""), { location });
    } else if (request.path === "/endless") request.head(200);
    else respond(request, 200, Buffer.from("secret"));
  };
  const owner = { settings: {}, violations: [], onRequest };
  const onSocket = (socket: Socket): void =>
    void (isHttp2 ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner));
  return await new Listener(options, onSocket).start();
}

async function codeOf(response: Promise<Response>): Promise<string> {
  try {
    return await (await within(response, "the response")).text();
  } catch (error) {
    return error instanceof HttpError ? error.code : String(error);
  }
}

async function during(
  options: HttpClientOptions,
  listeners: readonly { stop(): Promise<void> }[],
  act: (client: HttpClient) => Promise<void>,
): Promise<void> {
  const client = new HttpClient({ tls: { ca: certificates.ca }, connectTimeout: 5000, ...options });
  try {
    await act(client);
  } finally {
    client.destroy();
    for (const listener of listeners) await listener.stop();
  }
}

test(`allowAddress: "public": of ${LOOPBACK.length + SPECIAL.length} spellings none is connected to, which all lead to a server without it`, async () => {
  const server = await serve();
  const lookup = lookupOf(NAMES);
  const open = new HttpClient({ lookup, idleTimeout: 0 });
  await during({ allowAddress: "public", lookup, retries: 5 }, [server], async (client) => {
    for (const [at, host] of LOOPBACK.entries()) {
      assert.equal(await codeOf(open.fetch(`http://${host}:${server.port}/`)), "secret", host);
      assert.equal(server.accepted, at + 1, host);
    }
    for (const host of [...LOOPBACK, ...SPECIAL]) {
      for (const scheme of ["http", "https"]) {
        assert.equal(await codeOf(client.fetch(`${scheme}://${host}:${server.port}/`)), "ADDRESS_REFUSED", host);
      }
    }
    assert.equal(server.accepted, LOOPBACK.length);
    assert.equal(client.stats().retries, 0);
  }).finally(() => open.destroy());
});

test('allowAddress: "public": redirects from a public server lead to no spelling, by none to three hops', async () => {
  const server = await serve();
  // The proxy leads to this machine what the client has checked as a public address: no public server is needed.
  const proxy = await new TestProxy("socks5", { lead: () => "127.0.0.1" }).start();
  const lookup = lookupOf({ ...NAMES, "127.0.0.1": ["127.0.0.1"] });
  const options = { allowAddress: "public", lookup, proxy: proxy.url.replace("localhost", "127.0.0.1") } as const;
  await during(options, [server, proxy], async (client) => {
    const first = `http://public.test:${server.port}`;
    assert.equal(await codeOf(client.fetch(first)), "secret");
    for (const [at, host] of [...LOOPBACK, ...SPECIAL].entries()) {
      let url = `http://${host}:${server.port}/`;
      for (let hops = 0; hops <= at % 3; hops++) url = `${first}/to?${encodeURIComponent(url)}`;
      assert.equal(await codeOf(client.fetch(url)), "ADDRESS_REFUSED", host);
    }
    assert.deepEqual(new Set(proxy.tunnels), new Set([`93.184.215.14:${server.port}`]));
  });
});

for (const secure of [false, true]) {
  test(`allowAddress: over ${secure ? "TLS" : "TCP"} the address that was asked about is the one that is dialled, whatever later look-ups say`, async () => {
    const { cert, key } = certificates;
    const tls = secure ? { certificate: { cert, key }, alpn: ["http/1.1"] } : {};
    const good = await serve(tls);
    const bad = new Listener({ ...tls, address: "127.0.0.2" }, (socket) => void socket.destroy());
    bad.port = good.port;
    await bad.start();
    let lookups = 0;
    const lookup: LookupFunction = (_, options, callback) => {
      const found = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.2", "127.0.0.1"]][lookups++ % 3]!;
      if (options.all) callback(null, found.map((address) => ({ address, family: 4 })));
      else callback(null, found[0]!, 4);
    };
    const asked: string[] = [];
    const allowAddress = (address: string): boolean => (asked.push(address), address === "127.0.0.1");
    await during({ allowAddress, lookup, idleTimeout: 0 }, [good, bad], async (client) => {
      for (let i = 0; i < 30; i++) {
        const expected = i % 3 === 1 ? "ADDRESS_REFUSED" : "secret";
        assert.equal(await codeOf(client.fetch(good.origin.replace("127.0.0.1", "localhost"))), expected, `${i}`);
      }
      assert.deepEqual([good.accepted, bad.accepted, lookups, asked.length], [20, 0, 30, 40]);
    });
  });
}

for (const protocol of ["http/1.1", "h2c"] as const) {
  test(`allowAddress: ${protocol}: a connection is asked about once, with the use that it has, and is not used for another`, async () => {
    const server = await serve({}, protocol === "h2c");
    const other = await serve({}, protocol === "h2c");
    const asked: [string, HttpAddressUse][] = [];
    const allowAddress = (address: string, use: HttpAddressUse): boolean => {
      asked.push([address, use]);
      return !use.redirect || use.port === other.port;
    };
    const lookup = lookupOf(NAMES);
    await during({ allowAddress, lookup, h2c: protocol === "h2c", connections: 1 }, [server, other], async (client) => {
      const url = `http://localhost:${server.port}`;
      for (let i = 0; i < 3; i++) assert.equal(await codeOf(client.fetch(url)), "secret");
      assert.deepEqual(asked, [["127.0.0.1", { host: "localhost", port: server.port, redirect: false }]]);
      // The connection that is kept was allowed for the caller's own requests alone.
      assert.equal(await codeOf(client.fetch(`${url}/to?${url}/`)), "ADDRESS_REFUSED");
      assert.deepEqual(asked[1], ["127.0.0.1", { host: "localhost", port: server.port, redirect: true }]);
      for (let i = 0; i < 3; i++) assert.equal(await codeOf(client.fetch(`${url}/to?${other.origin}/`)), "secret");
      assert.deepEqual(asked.slice(2), [["127.0.0.1", { host: "127.0.0.1", port: other.port, redirect: true }]]);
      assert.deepEqual([server.accepted, other.accepted], [1, 1]);
    });
  });
}

test("allowAddress: a refusal is final, also while another connection to the host is open", async () => {
  const server = await serve();
  const asked: string[] = [];
  let isAllowed = true;
  const allowAddress = (address: string): boolean => (asked.push(address), isAllowed);
  const retryStatuses = [403, 503];
  await during({ allowAddress, retries: 9, retryStatuses }, [server], async (client) => {
    await client.fetch(`${server.origin}/endless`);
    isAllowed = false;
    const error = await client.fetch(server.origin).catch((error) => error);
    assert.equal(error.code, "ADDRESS_REFUSED");
    assert.equal(error.origin, server.origin);
    assert.match(error.message, /allowAddress.*127\.0\.0\.1/);
    assert.deepEqual([asked.length, server.accepted, client.stats().retries], [2, 1, 0]);
  });
});

test('allowAddress: "public" refuses what the system looks up', async () => {
  const server = await serve();
  await during({ allowAddress: "public" }, [server], async (client) => {
    for (const scheme of ["http", "https"]) {
      assert.equal(await codeOf(client.fetch(`${scheme}://localhost:${server.port}/`)), "ADDRESS_REFUSED");
    }
    assert.equal(server.accepted, 0);
  });
});

test("allowAddress: only true allows: no promise, no truth, and not what throws", async () => {
  const server = await serve();
  const cause = new Error("the list is not there");
  const answers: ((address: string) => unknown)[] = [
    () => Promise.resolve(true),
    () => "yes",
    () => 1,
    () => undefined,
    () => {
      throw cause;
    },
  ];
  for (const [at, allowAddress] of answers.entries()) {
    for (const host of ["127.0.0.1", "localhost"]) {
      const client = new HttpClient({ allowAddress: allowAddress as () => boolean, lookup: lookupOf(NAMES) });
      const error = await client.fetch(`http://${host}:${server.port}`).catch((error) => error);
      assert.equal(error.code, "ADDRESS_REFUSED");
      if (at === 4) assert.equal(error.cause, cause);
      client.destroy();
    }
  }
  assert.equal(server.accepted, 0);
  await server.stop();
});

for (const scheme of ["http", "https", "socks5", "socks5h"] as const) {
  test(`allowAddress: by a proxy of ${scheme}: the target is asked about, the proxy is not, and none that it alone looks up is reached`, async () => {
    const server = await serve();
    const proxy = await new TestProxy(scheme, { lead: () => "127.0.0.1" }).start();
    const asked: string[] = [];
    const options: HttpClientOptions = {
      allowAddress: (address) => (asked.push(address), isPublicAddress(address)),
      proxy: proxy.url,
      proxyTls: { ca: certificates.ca },
      lookup: lookupOf(NAMES),
    };
    await during(options, [server, proxy], async (client) => {
      const looksUp = scheme === "socks5";
      const { port } = server;
      assert.equal(await codeOf(client.fetch(`http://93.184.215.14:${port}/`)), "secret");
      assert.equal(await codeOf(client.fetch(`http://public.test:${port}/`)), looksUp ? "secret" : "ADDRESS_REFUSED");
      for (const host of ["127.0.0.1", "[::1]", "private.test", "localhost"]) {
        assert.equal(await codeOf(client.fetch(`http://${host}:${port}/`)), "ADDRESS_REFUSED", host);
        assert.equal(await codeOf(client.fetch(`https://${host}:${port}/`)), "ADDRESS_REFUSED", host);
      }
      assert.equal(server.accepted, looksUp ? 2 : 1);
      assert.equal(asked.includes("127.0.0.1"), true); // the targets'
      assert.deepEqual(new Set(proxy.tunnels.map((tunnel) => tunnel.split(":")[0])), new Set(["93.184.215.14"]));
    });
  });
}

test("allowAddress goes with neither connect nor socketPath, and takes no other word", () => {
  const allowAddress = "public";
  assert.throws(() => new HttpClient({ allowAddress, socketPath: "/tmp/a.sock" }), /allowAddress.*socketPath/);
  assert.throws(() => new HttpClient({ allowAddress, connect: () => Promise.reject() }), /allowAddress.*connect/);
  assert.throws(() => new HttpClient({ allowAddress: "private" as "public" }), /"public" or a function/);
});
