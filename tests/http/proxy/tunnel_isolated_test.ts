import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { HttpClient, HttpError } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import type { Protocol } from "../faults/origin.ts";
import { respond, whenWhole } from "../faults/server_request.ts";
import { pattern } from "../faults/trial.ts";
import { serveTls } from "../connect/servers.ts";
import { byProxy } from "./by_proxy.ts";
import type { ProxyScheme } from "./test_proxy.ts";

const schemes: ProxyScheme[] = ["http", "https", "socks5", "socks5h"];
const protocols: Protocol[] = ["h2", "http/1.1 over TLS", "h2c", "http/1.1"];

for (const scheme of schemes) {
  for (const protocol of protocols) {
    test(`by a proxy of ${scheme}: a burst and a large body over ${protocol}, of which the proxy sees no more than it must`, () =>
      byProxy(
        scheme,
        protocol,
        { client: () => ({ connections: 1 }) },
        async ({ client, proxy, origin, url, events }) => {
          const texts = await Promise.all([1, 2, 3].map(async (n) => await (await client.fetch(`${url}/${n}`)).text()));
          const host = new URL(url).host;
          assert.deepEqual(texts, [`/1 at ${host}`, `/2 at ${host}`, `/3 at ${host}`]);
          origin.onRequest = (request) =>
            whenWhole(request, () => respond(request, 200, Buffer.from(`${request.received}`)));
          const sent = await client.fetch(`${url}/up`, { method: "PUT", body: pattern });
          assert.equal(await sent.text(), String(pattern.length));
          origin.onRequest = (request) => respond(request, 200, pattern);
          const got = Buffer.from(await (await client.fetch(`${url}/down-the-river`)).arrayBuffer());
          assert.ok(got.equals(pattern));

          const isForwarded = scheme.startsWith("http") && protocol === "http/1.1";
          const { connections, sessions, origins } = client.stats();
          assert.equal(sessions, protocol.startsWith("h2") ? 1 : 0);
          assert.equal(connections, 1);
          assert.equal(proxy.listener.accepted, 1);
          assert.deepEqual(origins.map(({ origin, proxy }) => [origin, proxy]), [[url, proxy.bareUrl]]);
          assert.equal(origin.listener.accepted, 1);
          const tunnelled = scheme === "socks5" ? `127.0.0.1:${origin.listener.port}` : host;
          assert.deepEqual(proxy.tunnels, isForwarded ? [] : [tunnelled]);
          if (protocol === "h2" || protocol === "http/1.1 over TLS") {
            assert.doesNotMatch(proxy.through, /down-the-river/);
          }
          if (isForwarded) assert.match(proxy.heads[0], new RegExp(`^GET ${url}/1 HTTP/1.1\r\nhost: ${host}\r\n`));
          const connected = events.find((event) => event.type === "connect");
          assert.equal(connected?.proxy, proxy.bareUrl);
          assert.match(connected?.remoteAddress ?? "", /127\.0\.0\.1|::1/);
        },
      ));
  }

  for (const protocol of ["h2", "http/1.1"] as const) {
    test(`by a proxy of ${scheme} that asks for a password: ${protocol}, and nobody else is told it`, () => {
      const credentials = "us er@:pä:ss/#%";
      return byProxy(
        scheme,
        protocol,
        { credentials },
        async ({ client, proxy, origin, url, events }) => {
          assert.equal(await (await client.fetch(`${url}/a`)).text(), `/a at ${new URL(url).host}`);
          const [request] = origin.requests;
          assert.equal(request.fields.has("proxy-authorization"), false);
          const told = JSON.stringify([events, client.stats()]);
          for (const secret of ["us er", "us%20er", "ss/#", Buffer.from(credentials).toString("base64")]) {
            assert.ok(!told.includes(secret));
            assert.ok(!proxy.through.includes(secret));
          }
        },
      );
    });

    test(`by a proxy of ${scheme} that does not take the password: ${protocol}`, () =>
      byProxy(scheme, protocol, {
        credentials: "right:secret1",
        client: (proxy) => ({ proxy: proxy.url.replace("secret1", "secret2") }),
      }, async ({ client, proxy, url, events }) => {
        if (scheme.startsWith("http") && protocol === "http/1.1") {
          assert.equal((await client.fetch(url)).status, 407);
          return;
        }
        const error = await client.fetch(url).catch((error) => error);
        assert.ok(error instanceof HttpError);
        assert.equal(error.code, "PROXY_AUTHENTICATION");
        assert.match(error.message, /does not take the user name and password/);
        assert.equal(error.origin, url);
        const told = `${error.stack} ${JSON.stringify(events)} ${(error.cause as Error).stack}`;
        assert.ok(!/secret|right|cmlnaHQ/.test(told), told);
        assert.equal(proxy.tunnels.length, 0);
      }));

    test(`by a proxy of ${scheme} that asks for a password, without one: ${protocol}`, () =>
      byProxy(scheme, protocol, {
        credentials: "right:secret1",
        client: (proxy) => ({ proxy: proxy.bareUrl }),
      }, async ({ client, url }) => {
        if (scheme.startsWith("http") && protocol === "http/1.1") {
          assert.equal((await client.fetch(url)).status, 407);
          return;
        }
        const error = await client.fetch(url).catch((error) => error);
        assert.equal(error.code, "PROXY_AUTHENTICATION");
        assert.match(error.message, /asks for a user name and password.*put them into the proxy's URL/);
      }));
  }

  test(`by a proxy of ${scheme}: addresses, IPv6 ones in brackets, and a name in another case`, () =>
    byProxy(scheme, "h2c", {}, async ({ client, proxy, origin }) => {
      const { port } = origin.listener;
      for (const host of ["127.0.0.1", "[::1]", "LOCALHOST", "[2001:db8::7:0:0:9]"]) {
        await (await client.fetch(`http://${host}:${port}/`)).text();
      }
      const six = scheme.startsWith("socks");
      const expected = ["127.0.0.1", six ? "[00000000000000000000000000000001]" : "[::1]"];
      expected.push(scheme === "socks5" ? "127.0.0.1" : "localhost");
      expected.push(six ? "[20010db8000000000007000000000009]" : "[2001:db8::7:0:0:9]");
      assert.deepEqual(proxy.tunnels, expected.map((host) => `${host}:${port}`));
    }));

  test(`by a proxy of ${scheme}: the certificate is the origin's, and its errors are told as they are without a proxy`, () =>
    byProxy(scheme, "h2", { client: () => ({ tls: {} }) }, async ({ client, proxy, url }) => {
      const error = await client.fetch(url).catch((error) => error);
      assert.equal(error.code, "CERTIFICATE_UNTRUSTED");
      assert.match(error.message, /was issued by Millrace test CA, which is not trusted.*as tls\.ca/);
      // The look at the certificate goes by the proxy, too.
      assert.equal(proxy.listener.accepted, 2);
    }));
}

test("an https: proxy whose certificate is not trusted: `proxyTls` is named, and it is sent nothing", () =>
  byProxy("https", "h2", { client: () => ({ proxyTls: {} }) }, async ({ client, proxy, url }) => {
    const error = await client.fetch(url).catch((error) => error);
    assert.equal(error.code, "CERTIFICATE_UNTRUSTED");
    assert.match(error.message, /certificate of the proxy https:.*proxyTls\.ca/);
    assert.equal(error.origin, url);
    assert.deepEqual(proxy.heads, []);
  }));

test("the options of `tls` are not for the proxy: neither its name nor its certificate", () =>
  byProxy("https", "h2", {
    client: () => ({
      tls: {
        ca: certificates.ca,
        servername: "localhost",
        ...certificates.client,
        checkServerIdentity: (host) => void asked.push(host),
      },
    }),
  }, async ({ client, url }) => {
    assert.equal((await client.fetch(url)).status, 200);
    assert.deepEqual(asked, ["localhost"]);
    client.destroy();
  }));

const asked: string[] = [];

test("a proxy that asks for a client certificate is shown that of `proxyTls`, never that of `tls`", async () => {
  const shown: unknown[] = [];
  const { ca, client: certificate } = certificates;
  const asking = { requestCert: true, rejectUnauthorized: false, ca, ALPNProtocols: ["http/1.1"] };
  const proxy = await serveTls(asking, (socket) => {
    shown.push(socket.getPeerCertificate()?.subject?.CN);
    socket.on("data", () => socket.end("HTTP/1.1 403 No\r\n\r\n"));
  });
  try {
    for (const proxyTls of [{ ca }, { ca, ...certificate }]) {
      const client = new HttpClient({
        proxy: `https://localhost:${proxy.port}`,
        proxyTls,
        tls: { ca, ...certificate },
      });
      const error = await client.fetch("https://one.test").catch((error) => error);
      assert.equal(error.code, "PROXY_REFUSED", error.message);
      await client.close();
    }
    assert.deepEqual(shown, [undefined, "A client"]);
  } finally {
    await proxy.close();
  }
});
