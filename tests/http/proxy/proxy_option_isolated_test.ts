import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { EnvironmentProxies, NoProxy } from "../../../lib/http/proxy/proxy_option.ts";
import { ProxyServer } from "../../../lib/http/proxy/proxy_server.ts";
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";
import { byProxy } from "./by_proxy.ts";
import { TestProxy } from "./test_proxy.ts";

test("a proxy's URL: what is read of it, and what may be shown", () => {
  const read = (url: string | URL): unknown[] => {
    const { protocol, secure, resolves, host, port, url: shown } = new ProxyServer(url, "proxy");
    return [protocol, secure, resolves, host, port, shown];
  };
  assert.deepEqual(read("http://proxy.test"), ["http", false, true, "proxy.test", 80, "http://proxy.test:80"]);
  assert.deepEqual(read("https://Proxy.Test"), ["http", true, true, "proxy.test", 443, "https://proxy.test:443"]);
  assert.deepEqual(read("http://u:p@1.2.3.4:3128/path?q"), [
    "http",
    false,
    true,
    "1.2.3.4",
    3128,
    "http://1.2.3.4:3128",
  ]);
  assert.deepEqual(read("socks5://Proxy.Test"), [
    "socks5",
    false,
    false,
    "proxy.test",
    1080,
    "socks5://proxy.test:1080",
  ]);
  assert.deepEqual(read("socks5h://u:p@[::1]:80"), ["socks5", false, true, "::1", 80, "socks5h://[::1]:80"]);
  assert.deepEqual(read(new URL("http://[::1]:8080")), ["http", false, true, "::1", 8080, "http://[::1]:8080"]);
});

test("a proxy's credentials are percent-decoded, and nothing prints them", () => {
  const proxy = new ProxyServer("http://us%20er:p%C3%A4%3Ass%25@proxy.test", "proxy");
  assert.equal(proxy.authorization, `Basic ${Buffer.from("us er:pä:ss%").toString("base64")}`);
  assert.equal(new ProxyServer("http://user@proxy.test", "proxy").authorization, `Basic ${btoa("user:")}`);
  assert.equal(new ProxyServer("http://:pass@proxy.test", "proxy").authorization, `Basic ${btoa(":pass")}`);
  assert.equal(new ProxyServer("http://proxy.test", "proxy").authorization, undefined);
  const shown = `${inspect(proxy, { showHidden: true, depth: 9 })} ${JSON.stringify(proxy)} ${String(proxy)}`;
  assert.doesNotMatch(shown, /us er|us%20er|ss%|Basic/);
  assert.notEqual(proxy.key, new ProxyServer("http://us%20er:other@proxy.test", "proxy").key);
  const [one, other] = ["socks5://a%3Ab:c@proxy.test", "socks5://a:b%3Ac@proxy.test"];
  assert.notEqual(new ProxyServer(one, "proxy").key, new ProxyServer(other, "proxy").key);
});

for (
  const [given, says] of [
    ["proxy.test:3128", /^proxy has the scheme proxy\.test: use a URL of http:, https:, socks5: or socks5h:$/],
    ["localhost", /^proxy is no absolute URL/],
    ["secret:u@proxy.test:3128", /^proxy is no absolute URL/],
    ["", /^proxy is no absolute URL/],
    ["ftp://u:secret@proxy.test", /^proxy has the scheme ftp:/],
    ["socks4://u:secret@proxy.test", /^proxy has the scheme socks4:/],
    ["socks5://", /names no host|no absolute URL/],
    ["http://u:secret@:80", /no absolute URL/],
    ["http://u:secret%zz@proxy.test", /percent-encoded UTF-8/],
    ["http://u:secret%ff@proxy.test", /percent-encoded UTF-8/],
    ["http://u%3Asecret:x@proxy.test", /a user name with a colon/],
    [`socks5://u:secret${"x".repeat(250)}@proxy.test`, /more than 255 bytes/],
    [17, /must be a URL, a function that returns one, or "env", not 17$/],
    [null, /must be a URL/],
    [{ url: "http://proxy.test" }, /must be a URL/],
  ] as [never, RegExp][]
) {
  test(`proxy: ${JSON.stringify(given)?.slice(0, 60)} is refused, without its password in the message`, () => {
    assert.throws(() => new HttpClient({ proxy: given }), (error) => {
      assert.ok(error instanceof TypeError);
      assert.match(error.message, says);
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /secret/);
      return true;
    });
  });
}

const table: [string, [string, number?][], [string, number?][]][] = [
  ["", [], [["example.com"], ["127.0.0.1"]]],
  ["*", [["example.com"], ["::1"]], []],
  ["one.test, *", [["example.com"]], []],
  ["example.com", [["example.com"], ["EXAMPLE.com"], ["example.com."], ["a.b.example.com"]], [["notexample.com"], [
    "example.com.test",
  ], ["example.co"]]],
  [".example.com", [["example.com"], ["a.example.com"]], [["notexample.com"]]],
  ["*.example.com", [["example.com"], ["a.example.com"]], [["notexample.com"]]],
  ["example.com.", [["example.com"], ["a.example.com"]], []],
  ["Example.COM", [["example.com"]], []],
  ["a.test,b.test c.test\td.test", [["a.test"], ["b.test"], ["c.test"], ["d.test"]], [["e.test"]]],
  ["example.com:8080", [["example.com", 8080], ["a.example.com", 8080]], [["example.com", 80], ["example.com", 443]]],
  ["localhost", [["localhost"], ["a.localhost"]], [["127.0.0.1"]]],
  ["127.0.0.1", [["127.0.0.1"]], [["127.0.0.2"], ["1.127.0.0.1.test"]]],
  ["0.0.1", [], [["127.0.0.1"]]],
  ["127.0.0.1:81", [["127.0.0.1", 81]], [["127.0.0.1", 80]]],
  ["::1", [["::1"]], [["::2"]]],
  ["[::1]", [["::1"]], []],
  ["[::1]:81", [["::1", 81]], [["::1", 80]]],
  ["2001:DB8:0::1", [["2001:db8::1"]], []],
  ["10.0.0.0/8", [["10.1.2.3"]], [["11.1.2.3"], ["ten.test"]]],
  ["192.168.7.0/25", [["192.168.7.127"]], [["192.168.7.128"]]],
  ["fd00::/8,[fe80::]/10", [["fd12::1"], ["fe80::9"]], [["fc00::1"], ["::1"]]],
  ["10.0.0.0/33,10.0.0.0/x,/8,:80,a:b:c,[,]", [], [["10.0.0.1"], ["a"]]],
  ["example.com:99999999", [], [["example.com"]]],
  ["fe80::1%eth0,[fe80::2%eth0],fe80::3%eth0/64,a.test", [["a.test"]], [["fe80::1"], ["fe80::2"], ["fe80::3"]]],
];

for (const [list, direct, proxied] of table) {
  test(`NO_PROXY=${JSON.stringify(list)}`, () => {
    const noProxy = new NoProxy(list);
    for (const [host, port = 443] of direct) assert.equal(noProxy.exempts(host, port), true, `${host}:${port}`);
    for (const [host, port = 443] of proxied) assert.equal(noProxy.exempts(host, port), false, `${host}:${port}`);
  });
}

test("the environment: which variable is for which scheme, and which goes first", () => {
  const proxyOf = (environment: Record<string, string>, url: string): string | undefined => {
    const { protocol, hostname, port } = new URL(url);
    const secure = protocol === "https:";
    const target = { secure, host: hostname, port: Number(port) || (secure ? 443 : 80) };
    return new EnvironmentProxies(environment).proxyOf(target)?.url;
  };
  const http = "http://one.test";
  const https = "https://one.test";
  assert.equal(proxyOf({}, http), undefined);
  assert.equal(proxyOf({ http_proxy: "http://p.test:1" }, http), "http://p.test:1");
  assert.equal(proxyOf({ http_proxy: "http://p.test:1" }, https), undefined);
  assert.equal(proxyOf({ https_proxy: "http://p.test:1" }, https), "http://p.test:1");
  assert.equal(proxyOf({ https_proxy: "http://p.test:1" }, http), undefined);
  assert.equal(proxyOf({ HTTPS_PROXY: "http://p.test:1", https_proxy: "http://q.test:1" }, https), "http://q.test:1");
  assert.equal(proxyOf({ HTTP_PROXY: "http://p.test:1", http_proxy: "" }, http), "http://p.test:1");
  assert.equal(proxyOf({ ALL_PROXY: "socks5h://p.test" }, http), "socks5h://p.test:1080");
  assert.equal(proxyOf({ all_proxy: "socks5://p.test", HTTPS_PROXY: "http://q.test:1" }, https), "http://q.test:1");
  assert.equal(proxyOf({ HTTPS_PROXY: "p.test:3128" }, https), "http://p.test:3128");
  assert.equal(proxyOf({ HTTPS_PROXY: " u:p@p.test " }, https), "http://p.test:80");
  assert.equal(proxyOf({ ALL_PROXY: "http://p.test:1", NO_PROXY: "one.test" }, https), undefined);
  assert.equal(
    proxyOf({ ALL_PROXY: "http://p.test:1", no_proxy: "two.test", NO_PROXY: "one.test" }, https),
    "http://p.test:1",
  );
  assert.equal(proxyOf({ ALL_PROXY: "http://p.test:1", no_proxy: "one.test:8443" }, `${https}:8443`), undefined);
});

test("the environment: HTTP_PROXY is not read in CGI programs, where clients set it", () => {
  const target = { secure: false, host: "one.test", port: 80 };
  const environment = { HTTP_PROXY: "http://evil.test", REQUEST_METHOD: "GET" };
  assert.equal(new EnvironmentProxies(environment).proxyOf(target), undefined);
  const lower = new EnvironmentProxies({ ...environment, http_proxy: "http://good.test" }).proxyOf(target);
  if (process.platform !== "win32") assert.equal(lower?.host, "good.test");
});

test("the environment: what is no proxy is named, without its password", () => {
  const read = (environment: Record<string, string>) => () => new EnvironmentProxies(environment);
  assert.throws(read({ HTTPS_PROXY: "gopher://u:secret@p.test" }), {
    name: "TypeError",
    message: "The environment's HTTPS_PROXY has the scheme gopher: use a URL of http:, https:, socks5: or socks5h:",
  });
  assert.throws(read({ all_proxy: "http://" }), { message: /^The environment's all_proxy is no absolute URL/ });
});

test('proxy: "env" goes by what the environment said when the client was made', async () => {
  const before = { ...process.env };
  try {
    await byProxy("http", "h2", {
      client: (proxy) => {
        Object.assign(process.env, { HTTPS_PROXY: proxy.url, NO_PROXY: "127.0.0.1" });
        return { proxy: "env" };
      },
    }, async ({ client, proxy, origin, url }) => {
      for (const name of ["HTTPS_PROXY", "NO_PROXY"]) delete process.env[name];
      await (await client.fetch(url)).text();
      assert.equal(proxy.tunnels.length, 1);
      await (await client.fetch(origin.url)).text(); // 127.0.0.1
      assert.equal(proxy.tunnels.length, 1);
      assert.deepEqual(client.stats().origins.map((each) => each.proxy), [proxy.url, undefined]);
    });
  } finally {
    for (const name of ["HTTPS_PROXY", "NO_PROXY"]) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
});

test("a function is asked for each request, and connections of one way are never used for another", async () => {
  const second = await new TestProxy("http").start();
  let choose: (origin: URL) => string | URL | null | undefined = () => undefined;
  const asked: string[] = [];
  await byProxy("http", "h2", {
    client: () => ({
      proxy: (origin) => {
        asked.push(origin.href);
        origin.hostname = "changed.test"; // its copy alone
        return choose(origin);
      },
    }),
  }, async ({ client, proxy, origin, url }) => {
    const ask = async (): Promise<string> => await (await client.fetch(`${url}/path?secret`)).text();
    await ask(); // direct
    assert.equal(origin.listener.accepted, 1);
    choose = () => proxy.url;
    await ask();
    assert.deepEqual([proxy.tunnels.length, origin.listener.accepted], [1, 2]);
    choose = () => new URL(second.url);
    await ask();
    assert.deepEqual([second.tunnels.length, origin.listener.accepted], [1, 3]);
    choose = () => proxy.url.replace("//", "//user:one@");
    await ask();
    assert.deepEqual([proxy.tunnels.length, origin.listener.accepted], [2, 4]);
    choose = () => proxy.url.replace("//", "//user:two@");
    await ask();
    assert.deepEqual([proxy.tunnels.length, origin.listener.accepted], [3, 5]);
    choose = () => null;
    await ask();
    assert.equal(origin.listener.accepted, 5);
    assert.deepEqual(new Set(asked), new Set([`${url}/`]));
    assert.equal(asked.length, 6);
    assert.equal(client.stats().origins.length, 5);
    assert.doesNotMatch(JSON.stringify(client.stats()), /one|two/);
  }).finally(() => second.stop());
});

test("redirects ask for the proxy anew, and take nothing of it along", () =>
  byProxy("http", "http/1.1", {
    credentials: "user:secret",
    client: (proxy) => ({ proxy: ({ hostname }) => hostname === "127.0.0.1" ? undefined : proxy.url }),
  }, async ({ client, proxy, origin, url }) => {
    const shown: boolean[] = [];
    origin.onRequest = (request) => {
      shown.push(request.fields.has("proxy-authorization"));
      const isFirst = request.path === "/first";
      request.head(
        isFirst ? 302 : 200,
        isFirst ? { location: `${origin.url}/second`, "content-length": "0" } : { "content-length": "0" },
      );
      request.end();
    };
    const response = await client.fetch(`${url}/first`);
    assert.equal(response.url, `${origin.url}/second`);
    assert.equal(proxy.heads.length, 1);
    assert.deepEqual(shown, [false, false]);
  }));

for (
  const [what, gives, says] of [
    ["throws", () => {
      throw new Error("no idea");
    }, /^Cannot choose a proxy for http:\/\/one\.test: no idea$/],
    ["gives a promise", () => Promise.resolve("http://p.test"), /proxy returned a promise/],
    ["gives no URL", () => "u:secret@p.test:80", /the function gave (is no absolute URL|has the scheme u:)/],
    ["gives another scheme", () => "ftp://u:secret@p.test", /scheme ftp:/],
  ] as [string, () => never, RegExp][]
) {
  test(`a function that ${what}: INVALID_OPTION, and nothing is connected to`, async () => {
    const client = new HttpClient({ proxy: gives });
    const error = await client.fetch("http://one.test").catch((error) => error);
    assert.ok(error instanceof HttpError);
    assert.equal(error.code, "INVALID_OPTION");
    assert.equal(error.origin, "http://one.test");
    assert.match(error.message, says);
    assert.doesNotMatch(inspect(error, { depth: 9 }), /secret/);
    assert.deepEqual(client.stats().origins, []);
    let told: unknown;
    const body = new ReadableStream({ cancel: (reason) => void (told = reason) });
    const failed = await client.fetch("http://one.test", { method: "PUT", body }).catch((error) => error);
    assert.equal(failed.code, "INVALID_OPTION");
    assert.equal(told, failed);
    await client.close();
    const late = new ReadableStream({ cancel: (reason) => void (told = reason) });
    const closed = await client.fetch("http://one.test", { method: "PUT", body: late }).catch((error) => error);
    assert.equal(closed.code, "CLIENT_CLOSED");
    assert.equal(told, closed);
  });
}

test("a function that throws for the target of a redirect fails the request", () =>
  byProxy("http", "http/1.1", {
    client: (proxy) => ({
      proxy: ({ port }) => {
        if (port === "9999") throw new Error("not there");
        return proxy.url;
      },
    }),
  }, async ({ client, origin, url }) => {
    origin.onRequest = (request) => {
      request.head(302, { location: "http://localhost:9999/", "content-length": "0" });
      request.end();
    };
    const error = await client.fetch(url).catch((error) => error);
    assert.equal(error.code, "INVALID_OPTION");
    assert.match(error.message, /not there/);
  }));

test("the header proxy-authorization is refused where requests go by a proxy", () =>
  byProxy("http", "h2", {}, async ({ client, proxy, url }) => {
    const error = await client.fetch(url, { headers: { "Proxy-Authorization": "Basic x" } }).catch((error) => error);
    assert.equal(error.code, "INVALID_HEADER");
    assert.match(error.message, /put user name and password into the proxy's URL/);
    assert.equal(proxy.listener.accepted, 0);
    await (await client.fetch(url, { headers: { "access-control-request-headers": "proxy-authorization" } })).text();
  }));

test("a request that a proxy sends on: absolute, with the origin's host, on a connection that is kept", () =>
  byProxy(
    "http",
    "http/1.1",
    { credentials: "user:secret", client: () => ({ connections: 1 }) },
    async ({ client, proxy, origin, url }) => {
      const { host } = new URL(url);
      await (await client.fetch(`${url}/a/b?c=d#e`)).text();
      await (await client.fetch(`${url}/second`, { method: "POST", body: "hello" })).text();
      const authorization = `proxy-authorization: Basic ${btoa("user:secret")}`;
      assert.ok(
        proxy.heads[0].startsWith(
          `GET ${url}/a/b?c=d HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${authorization}\r\n`,
        ),
      );
      assert.ok(proxy.heads[1].startsWith(`POST ${url}/second HTTP/1.1\r\nhost: ${host}\r\n`));
      assert.equal(proxy.listener.accepted, 1);
      assert.equal(origin.requests[1].received, 5);
      assert.deepEqual(origin.requests.map(({ fields }) => fields.has("proxy-authorization")), [false, false]);
    },
  ));

test("misuse of the other options is refused", () => {
  const refuses = (options: Record<string, unknown>, says: RegExp): void =>
    assert.throws(() => new HttpClient(options), { name: "TypeError", message: says });
  refuses({ socketPath: "/a", proxy: "http://p.test" }, /^socketPath and proxy both say/);
  refuses({ socketPath: "/a", connect: () => {} }, /^socketPath and connect both say/);
  refuses({ proxyTls: { cert: "x" } }, /^proxyTls\.cert and proxyTls\.key need each other/);
  refuses({ proxyTls: { ciphers: "x" } }, /unknown option "proxyTls\.ciphers"/);
});
