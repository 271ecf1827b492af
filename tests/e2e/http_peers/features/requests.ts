import assert from "node:assert/strict";
import test from "node:test";
import { encodedText, HELLO_TAG } from "../application.ts";
import {
  assertFewConnections,
  type Endpoint,
  optionsFor,
  protocolOf,
  visiting,
  visitingEndpoint,
} from "../endpoint.ts";
import { pattern } from "../pattern.ts";

/** Methods, statuses, redirects, codings and header fields. */
export function testRequests(endpoint: Endpoint): void {
  const { name, skip } = endpoint;

  test(`${name}: requests one after the other take few connections`, { skip }, async () => {
    await visitingEndpoint(endpoint, async (visit) => {
      const { client, origin, events } = visit;
      for (let i = 0; i < 30; i++) {
        const response = await client.fetch(`${origin}/hello`);
        assert.equal(response.status, 200);
        assert.equal(response.headers.get("etag"), HELLO_TAG);
        assert.equal(await response.text(), "hello");
      }
      assertFewConnections(visit);
      const [connected] = events;
      assert.equal(connected.type === "connect" && connected.protocol, protocolOf(endpoint));
      assert.equal(client.stats().retries, 0);
    });
  });

  if (endpoint.kind === "h2") {
    test(`${name}: HTTP/1.1 is spoken over TLS to who does not offer h2`, { skip }, async () => {
      await visiting({ ...optionsFor("h2"), http2: false }, endpoint.origin(), async ({ client, origin, events }) => {
        for (const body of ["short", "longer".repeat(20_000)]) {
          assert.equal(await (await client.fetch(`${origin}/mirror`, { method: "POST", body })).text(), body);
        }
        const [connected] = events;
        assert.equal(connected.type === "connect" && connected.protocol, "http/1.1");
      });
    });
  }

  testMethods(endpoint);

  test(`${name}: the answer to HEAD has a length and no body`, { skip }, async () => {
    await visitingEndpoint(endpoint, async (visit) => {
      const { client, origin } = visit;
      for (let i = 0; i < 3; i++) {
        const response = await client.fetch(`${origin}/bytes?n=5000`, { method: "HEAD" });
        assert.equal(response.headers.get("content-length"), "5000");
        assert.equal((await response.bytes()).length, 0);
      }
      assertFewConnections(visit);
    });
  });

  test(`${name}: 204 and 304 have no body, and the connection goes on`, { skip }, async () => {
    await visitingEndpoint(endpoint, async (visit) => {
      const { client, origin } = visit;
      for (let i = 0; i < 3; i++) {
        const none = await client.fetch(`${origin}/status?code=204`);
        assert.equal(none.status, 204);
        assert.equal(none.body, null);
        const known = await client.fetch(`${origin}/hello`, { headers: { "if-none-match": HELLO_TAG } });
        assert.equal(known.status, 304);
        assert.equal(known.body, null);
        assert.equal(known.headers.get("etag"), HELLO_TAG);
        const other = await client.fetch(`${origin}/status?code=418`, { method: "POST", body: "tea" });
        assert.equal(other.status, 418);
        assert.equal(await other.text(), "");
      }
      assertFewConnections(visit);
    });
  });

  testRedirects(endpoint);
  testFields(endpoint);
  testCodings(endpoint);
  testExtras(endpoint);
}

function testMethods(endpoint: Endpoint): void {
  test(`${endpoint.name}: methods and short bodies arrive as they are`, { skip: endpoint.skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      const echo = (method: string, body?: string): Promise<Response> =>
        client.fetch(`${origin}/echo`, { method, body });
      for (const method of ["GET", "HEAD", "DELETE", "OPTIONS"]) {
        const response = await echo(method);
        assert.equal(response.headers.get("x-method"), method);
        assert.equal(response.headers.get("x-length"), "none", method);
        assert.equal(await response.text(), "");
      }
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const response = await echo(method, `a body of ${method}`);
        assert.equal(response.headers.get("x-method"), method);
        assert.equal(response.headers.get("x-length"), String(10 + method.length));
        assert.equal(await response.text(), `a body of ${method}`);
      }
      const empty = await echo("POST", "");
      assert.equal(empty.headers.get("x-length"), "0");
      assert.equal(await empty.text(), "");
    });
  });
}

function testRedirects(endpoint: Endpoint): void {
  const { name, skip } = endpoint;
  const to = encodeURIComponent("/echo?there");

  test(`${name}: redirects are followed with the method and body that each status asks for`, { skip }, async () => {
    await visitingEndpoint(endpoint, async (visit) => {
      const { client, origin } = visit;
      for (
        const [code, method, body] of [[301, "GET", ""], [302, "GET", ""], [303, "GET", ""], [307, "POST", "moved"], [
          308,
          "POST",
          "moved",
        ]] as const
      ) {
        const response = await client.fetch(`${origin}/redirect?code=${code}&to=${to}`, {
          method: "POST",
          body: "moved",
        });
        assert.equal(response.url, `${origin}/echo?there`);
        assert.equal(response.redirected, true);
        assert.equal(response.headers.get("x-method"), method, String(code));
        assert.equal(await response.text(), body);
      }
      assertFewConnections(visit);
    });
  });

  test(`${name}: redirects are given to who wants them, and an error for who wants none`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      const url = `${origin}/redirect?code=302&to=${to}`;
      const response = await client.fetch(url, { redirect: "manual" });
      assert.equal(response.status, 302);
      assert.equal(new URL(response.headers.get("location")!, origin).pathname, "/echo");
      await response.body?.cancel();
      await assert.rejects(client.fetch(url, { redirect: "error" }), {
        name: "TypeError",
        code: "REDIRECT_FAILED",
        origin,
      });
    });
  });
}

function testFields(endpoint: Endpoint): void {
  const { name, skip } = endpoint;

  test(`${name}: many and long header fields go both ways`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      const headers: Record<string, string> = {
        "x-long": "l".repeat(6000),
        "x-list": "a, b,c",
        cookie: "one=1; two=2",
      };
      for (let i = 0; i < 50; i++) headers[`x-ours-${i}`] = `${i}`.repeat(40);
      for (let round = 0; round < 3; round++) {
        const response = await client.fetch(`${origin}/fields?n=100`, { headers });
        for (let i = 0; i < 100; i++) {
          assert.equal(response.headers.get(`x-field-${i}`), String(i).padStart(100, "-"));
        }
        const seen = await response.json();
        for (const [name, value] of Object.entries(headers)) assert.equal(seen[name], value, name);
      }
    });
  });

  test(`${name}: more header fields than allowed are an error of that request alone`, { skip }, async () => {
    const options = { ...optionsFor(endpoint.kind), maxHeaderSize: 8192 };
    await visiting(options, endpoint.origin(), async ({ client, origin }) => {
      await assert.rejects(client.fetch(`${origin}/fields?n=150`), { code: "LIMIT_EXCEEDED", origin });
      assert.equal(await (await client.fetch(`${origin}/hello`)).text(), "hello");
    });
  });
}

function testCodings(endpoint: Endpoint): void {
  const { name, skip, lacks } = endpoint;
  const codings = ["gzip", "deflate", ...(lacks.has("brotli and zstd") ? [] : ["br", "zstd"])];

  test(`${name}: ${codings.join(", ")} are decoded`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      for (const coding of codings) {
        const response = await client.fetch(`${origin}/encoded?as=${coding}`);
        assert.ok(await response.text() === encodedText, coding);
      }
    });
  });
}

function testExtras(endpoint: Endpoint): void {
  const { name, skip, lacks } = endpoint;

  if (!lacks.has("trailers")) {
    test(`${name}: trailers do no harm`, { skip }, async () => {
      await visitingEndpoint(endpoint, async (visit) => {
        const { client, origin } = visit;
        for (let i = 0; i < 3; i++) {
          const response = await client.fetch(`${origin}/trailers`, { headers: { te: "trailers" } });
          assert.equal(await response.text(), "a body with trailers");
        }
        assertFewConnections(visit);
      });
    });
  }

  if (!lacks.has("hints")) {
    test(`${name}: the answer comes after early hints`, { skip }, async () => {
      await visitingEndpoint(endpoint, async (visit) => {
        const { client, origin } = visit;
        for (let i = 0; i < 3; i++) {
          const response = await client.fetch(`${origin}/hints`);
          assert.equal(response.status, 200);
          assert.equal(await response.text(), "hinted");
        }
        assertFewConnections(visit);
      });
    });
  }

  test(`${name}: bodies of many sizes come whole, with and without a length`, { skip }, async () => {
    await visitingEndpoint(endpoint, async ({ client, origin }) => {
      for (const size of [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 300_000]) {
        for (const path of ["bytes", "stream"]) {
          const response = await client.fetch(`${origin}/${path}?n=${size}`);
          if (path === "bytes" && size > 0) assert.equal(response.headers.get("content-length"), String(size));
          assert.ok(Buffer.compare(await response.bytes(), pattern(size)) === 0, `${path} of ${size}`);
        }
      }
    });
  });
}
