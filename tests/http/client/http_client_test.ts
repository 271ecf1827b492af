import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import process from "node:process";
import test from "node:test";
import { HttpClient, type HttpClientEvent, type HttpClientOptions, HttpError } from "../../../lib/http/mod.ts";
import { certificates } from "../certificates.ts";
import { until } from "../../support/waits.ts";
import { type Answer, type OriginOptions, startOrigin, type TestOrigin } from "./origins.ts";

/** The part of node:http2's responses that the tests use. */
interface ServerResponseOfHttp2 {
  stream: { session: { goaway(code: number): void } };
}

const noHttp2Server = "deno" in process.versions &&
  "Deno's node:http2 server now and then aborts its process; tests/http/faults has one of frames";
const tls = { ca: certificates.ca };

/** Runs a test with an origin and a client, and requires that nothing is left open. */
async function withOrigin(
  answer: Answer,
  options: OriginOptions & { client?: HttpClientOptions },
  body: (client: HttpClient, origin: TestOrigin) => Promise<void>,
): Promise<void> {
  const origin = await startOrigin(answer, options);
  const client = new HttpClient({ tls, h2c: options.protocol === "h2c", ...options.client });
  try {
    await body(client, origin);
    await client.close();
    const { connections, active, queued, connecting } = client.stats();
    assert.deepEqual({ connections, active, queued, connecting }, {
      connections: 0,
      active: 0,
      queued: 0,
      connecting: 0,
    });
  } finally {
    client.destroy();
    await origin.stop();
  }
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const hello: Answer = (_, response) => void response.end("hello");
const burst = (count: number, url: string, client: HttpClient): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, async (_, i) => await (await client.fetch(`${url}/${i}`)).text()));

/** Responds once `count` requests are there, which avoids measuring time. */
function together(count: number): Answer {
  const waiting: (() => void)[] = [];
  return (request, response) => {
    waiting.push(() => response.end(request.url));
    if (waiting.length === count) { for (const answer of waiting.splice(0)) answer(); }
  };
}

for (const protocol of ["h2", "h2c", "http/1.1", "https/1.1"] as const) {
  test(`fetch() gets and posts over ${protocol}`, { skip: protocol.startsWith("h2") && noHttp2Server }, async () => {
    const echo: Answer = (request, response) => void request.pipe(response);
    await withOrigin(echo, { protocol }, async (client, { url }) => {
      const got = await client.fetch(`${url}/a?b=c`);
      assert.equal(got.status, 200);
      assert.equal(got.url, `${url}/a?b=c`);
      assert.equal(await got.text(), "");
      const body = "over and over ".repeat(20_000);
      const posted = await client.fetch(url, { method: "POST", body });
      assert.equal(await posted.text(), body);
      const pieces = async function* (): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 10; i++) yield new TextEncoder().encode(body.slice(i * 1000, i * 1000 + 1000));
      };
      const streamed = await client.fetch(url, { method: "PUT", body: pieces() });
      assert.equal(await streamed.text(), body.slice(0, 10_000));
    });
  });
}

test("bodies of requests on idle connections are asked for in the asynchronous contexts of their calls", async () => {
  const calls = new AsyncLocalStorage<number>();
  const echo: Answer = (request, response) => void request.pipe(response);
  await withOrigin(echo, { protocol: "http/1.1" }, async (client, { url }) => {
    const once = (call: number): Promise<string> =>
      calls.run(call, async () => {
        const body = async function* (): AsyncGenerator<Uint8Array> {
          yield new TextEncoder().encode(String(calls.getStore()));
        };
        return await (await client.fetch(url, { method: "POST", body: body() })).text();
      });
    // At once, and when nothing is known of the connections any more.
    for (const pause of [0, 0, 5, 5]) {
      await later(pause);
      assert.deepEqual(await Promise.all([1, 2, 3, 4].map(once)), ["1", "2", "3", "4"]);
    }
  });
});

test("a cold burst goes out on one session, all at once", { skip: noHttp2Server }, async () => {
  await withOrigin(together(100), { protocol: "h2" }, async (client, origin) => {
    const texts = await burst(100, origin.url, client);
    assert.deepEqual(texts, texts.map((_, i) => `/${i}`));
    assert.deepEqual([origin.sockets, origin.sessions, origin.peak], [1, 1, 100]);
  });
});

test("a cold burst to an HTTP/1.1 server over TLS has a connection each, and keeps them", async () => {
  const client = { connections: 20 };
  await withOrigin(together(20), { protocol: "https/1.1", client }, async (client, origin) => {
    await burst(20, origin.url, client);
    await burst(20, origin.url, client);
    assert.deepEqual([origin.sockets, origin.peak], [20, 20]);
  });
});

test("`connections` bounds the connections of HTTP/1.1; the rest waits", async () => {
  const client = { connections: 3 };
  await withOrigin(
    (_, response) => void setTimeout(() => response.end("x"), 1),
    { protocol: "http/1.1", client },
    async (client, origin) => {
      assert.equal((await burst(30, origin.url, client)).length, 30);
      assert.ok(origin.sockets === 3 && origin.peak === 3);
    },
  );
});

test(
  "what a session has no room for goes on more sessions, none above what the server allows",
  { skip: noHttp2Server },
  async () => {
    await withOrigin(together(100), { protocol: "h2", maxConcurrentStreams: 10 }, async (client, origin) => {
      await burst(100, origin.url, client);
      assert.equal(origin.peak, 100);
      assert.equal(origin.sessions, 10);
    });
  },
);

test("with one connection, what a session has no room for waits", { skip: noHttp2Server }, async () => {
  const options = { protocol: "h2", maxConcurrentStreams: 10, client: { connections: 1 } } as const;
  await withOrigin(together(10), options, async (client, origin) => {
    await burst(100, origin.url, client);
    assert.deepEqual([origin.sessions, origin.peak], [1, 10]);
  });
});

test("`maxConcurrentStreams` lowers what the server allows", { skip: noHttp2Server }, async () => {
  const options = { protocol: "h2", client: { connections: 1, maxConcurrentStreams: 5 } } as const;
  await withOrigin(together(5), options, async (client, origin) => {
    await burst(50, origin.url, client);
    assert.deepEqual([origin.sessions, origin.peak], [1, 5]);
  });
});

test(
  "a request that waits can be aborted, and so can one that is under way, and a body",
  { skip: noHttp2Server },
  async () => {
    const answers: Answer = (request, response) => {
      if (request.url === "/body") response.write("first");
    };
    await withOrigin(
      answers,
      { protocol: "h2", maxConcurrentStreams: 1, client: { connections: 1 } },
      async (client, origin) => {
        const { url } = origin;
        const [first, second] = [new AbortController(), new AbortController()];
        const underWay = client.fetch(url, { signal: first.signal });
        await until(() => origin.requests === 1, "the first request");
        const waiting = client.fetch(url, { signal: second.signal });
        assert.equal(client.stats().queued, 1);
        second.abort(new Error("no longer"));
        await assert.rejects(waiting, { message: "no longer" });
        assert.equal(client.stats().queued, 0);
        first.abort();
        await assert.rejects(underWay, { name: "AbortError" });
        const third = new AbortController();
        const response = await client.fetch(`${url}/body`, { signal: third.signal });
        third.abort(new Error("enough"));
        await assert.rejects(response.text(), { message: "enough" });
        await assert.rejects(client.fetch(url, { signal: AbortSignal.abort(new Error("at once")) }), {
          message: "at once",
        });
      },
    );
  },
);

test("one signal gives up a thousand requests", { skip: noHttp2Server }, async () => {
  await withOrigin(() => {}, { protocol: "h2" }, async (client, { url }) => {
    const controller = new AbortController();
    const all = Array.from({ length: 1000 }, () => client.fetch(url, { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error("over")), 30);
    const settled = await Promise.allSettled(all);
    assert.ok(settled.every((one) => one.status === "rejected" && one.reason.message === "over"));
  });
});

for (const protocol of ["h2", "http/1.1"] as const) {
  test(`a server that says nothing over ${protocol} is late after headersTimeout, and after bodyTimeout`, {
    skip: protocol === "h2" && noHttp2Server,
  }, async () => {
    const answer: Answer = (request, response) => {
      if (request.url === "/body") response.write("first");
    };
    const client = { headersTimeout: 60, bodyTimeout: 60 };
    await withOrigin(answer, { protocol, client }, async (client, { url }) => {
      await assert.rejects(client.fetch(url), (error) => {
        assert.ok(error instanceof TypeError && error instanceof HttpError);
        assert.equal(error.code, "HEADERS_TIMEOUT");
        assert.equal(error.origin, new URL(url).origin);
        return true;
      });
      const response = await client.fetch(`${url}/body`, { headersTimeout: 5000 });
      await assert.rejects(response.text(), { code: "BODY_TIMEOUT" });
    });
  });
}

test("a reader that takes its time is not a server that is late", { skip: noHttp2Server }, async () => {
  const client = { bodyTimeout: 400 };
  await withOrigin(
    (_, response) => void response.end("x".repeat(3e6)),
    { protocol: "h2", client },
    async (client, { url }) => {
      const response = await client.fetch(url);
      await later(700);
      assert.equal((await response.text()).length, 3e6);
    },
  );
});

test("headersTimeout does not count while the body is being sent", async () => {
  const answer: Answer = (request, response) => void request.resume().on("end", () => response.end("all there"));
  await withOrigin(answer, { protocol: "http/1.1", client: { headersTimeout: 800 } }, async (client, { url }) => {
    const body = async function* (): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < 8; i++) {
        await later(125);
        yield new Uint8Array(10);
      }
    };
    assert.equal(await (await client.fetch(url, { method: "POST", body: body() })).text(), "all there");
  });
});

test("close() lets requests end, and refuses new ones", { skip: noHttp2Server }, async () => {
  await withOrigin(
    (_, response) => void setTimeout(() => response.end("late"), 50),
    { protocol: "h2" },
    async (client, { url }) => {
      const text = client.fetch(url).then((response) => response.text());
      const closed = client.close();
      await assert.rejects(client.fetch(url), { code: "CLIENT_CLOSED" });
      assert.equal(await text, "late");
      await closed;
      assert.equal(client.stats().connections, 0);
    },
  );
});

test("close() of a client that never connected is fulfilled", async () => {
  await new HttpClient().close();
});

test("destroy() fails what waits, what is under way and what is being read", { skip: noHttp2Server }, async () => {
  const answer: Answer = (request, response) => {
    if (request.url === "/body") response.write("first");
  };
  await withOrigin(
    answer,
    { protocol: "h2", maxConcurrentStreams: 2, client: { connections: 1 } },
    async (client, { url }) => {
      const response = await client.fetch(`${url}/body`);
      const text = response.text();
      const others = [client.fetch(url), client.fetch(url), client.fetch(url)];
      await later(20);
      const reason = new Error("shutting down");
      client.destroy(reason);
      for (const promise of [text, ...others]) await assert.rejects(promise, { code: "CLIENT_CLOSED", cause: reason });
      await assert.rejects(client.fetch(url), { code: "CLIENT_CLOSED" });
    },
  );
});

test(
  "redirects are followed, also to another origin, and `redirect` says otherwise",
  { skip: noHttp2Server },
  async () => {
    const other = await startOrigin((request, response) => {
      response.end(JSON.stringify([request.method, request.headers["authorization"] ?? null, request.url]));
    }, { protocol: "http/1.1" });
    const answer: Answer = (request, response) => {
      const location = request.url === "/loop" ? "/loop" : `${other.url}/there`;
      response.writeHead(request.url === "/307" ? 307 : 302, { location }).end("x".repeat(100_000));
    };
    await withOrigin(answer, { protocol: "h2" }, async (client, { url }) => {
      const init = { method: "POST", body: "text", headers: { authorization: "secret" } };
      const followed = await client.fetch(url, init);
      assert.equal(followed.redirected, true);
      assert.equal(followed.url, `${other.url}/there`);
      assert.deepEqual(await followed.json(), ["GET", null, "/there"]);
      assert.deepEqual(await (await client.fetch(`${url}/307`, init)).json(), ["POST", null, "/there"]);
      const manual = await client.fetch(url, { redirect: "manual" });
      assert.equal(manual.status, 302);
      await manual.body!.cancel();
      await assert.rejects(client.fetch(url, { redirect: "error" }), { code: "REDIRECT_FAILED" });
      await assert.rejects(client.fetch(`${url}/loop`), { code: "REDIRECT_FAILED" });
    });
    await other.stop();
  },
);

test("a GET is sent again when its connection is lost before the answer, a POST is not", async () => {
  let times = 0;
  const answer: Answer = (request, response) => {
    if (++times % 2 === 1) request.socket.destroy();
    else response.end("second time");
  };
  await withOrigin(answer, { protocol: "http/1.1" }, async (client, { url }) => {
    assert.equal(await (await client.fetch(url)).text(), "second time");
    assert.equal(client.stats().retries, 1);
    await assert.rejects(client.fetch(url, { method: "POST", body: "x" }), { code: "CONNECTION_LOST" });
    assert.equal(times, 3);
    times = 0;
    const again = await client.fetch(url, { method: "POST", body: "x", idempotent: true });
    assert.equal(await again.text(), "second time");
  });
});

test("a request is not sent again more often than `retries` says", async () => {
  const answer: Answer = (request) => void request.socket.destroy();
  await withOrigin(answer, { protocol: "http/1.1", client: { retries: 3 } }, async (client, origin) => {
    await assert.rejects(client.fetch(origin.url), { code: "CONNECTION_LOST" });
    assert.equal(origin.requests, 4);
  });
});

test("onEvent() is told what happens", { skip: noHttp2Server }, async () => {
  const events: HttpClientEvent[] = [];
  const client = { onEvent: (event: HttpClientEvent) => void events.push(event) };
  await withOrigin(hello, { protocol: "h2", client }, async (client, { url }) => {
    await (await client.fetch(url)).text();
  });
  assert.deepEqual(events.map(({ type }) => type), ["connect", "request", "response", "disconnect"]);
});

test("stats() count what is under way", { skip: noHttp2Server }, async () => {
  await withOrigin(
    together(3),
    { protocol: "h2", maxConcurrentStreams: 2, client: { connections: 1 } },
    async (client, { url }) => {
      const first = [client.fetch(url), client.fetch(url)];
      const last = client.fetch(url);
      assert.equal(client.stats().queued, 3);
      await until(() => client.stats().active === 2, "the requests under way");
      const { active, queued, connections, sessions, requests, origins } = client.stats();
      assert.deepEqual({ active, queued, connections, sessions, requests }, {
        active: 2,
        queued: 1,
        connections: 1,
        sessions: 1,
        requests: 3,
      });
      assert.deepEqual(origins.map(({ origin, protocol }) => [origin, protocol]), [[url, "h2"]]);
      client.destroy();
      await Promise.allSettled([...first, last]);
    },
  );
});

test("a request that waits for a connection which cannot be made fails, also while another connection is busy", async () => {
  const answer: Answer = (request, response) => {
    if (request.url === "/slow") response.write("first");
    else response.end("hello");
  };
  const client = { connectTimeout: 300 };
  await withOrigin(answer, { protocol: "http/1.1", client }, async (client, origin) => {
    const slow = await client.fetch(`${origin.url}/slow`);
    origin.refuse();
    await assert.rejects(client.fetch(origin.url), { code: "CONNECTION_REFUSED" });
    assert.equal(client.stats().queued, 0);
    await slow.body!.cancel();
  });
});

test("a session that says goodbye, and whose last answer takes long, does not keep others waiting", {
  skip: noHttp2Server,
}, async () => {
  const answer: Answer = (request, response) => {
    if (request.url !== "/slow") return void response.end("hello");
    response.write("first");
    (response as unknown as ServerResponseOfHttp2).stream.session.goaway(0);
  };
  await withOrigin(answer, { protocol: "h2", client: { connections: 1 } }, async (client, origin) => {
    const slow = await client.fetch(`${origin.url}/slow`);
    await later(20);
    assert.equal(await (await client.fetch(origin.url)).text(), "hello");
    assert.equal(origin.sessions, 2);
    await slow.body!.cancel();
  });
});

test("requests that a server allows no streams for fail after a time", { skip: noHttp2Server }, async () => {
  const options = {
    protocol: "h2",
    maxConcurrentStreams: 0,
    client: { connectTimeout: 200, maxConcurrentStreams: 1 },
  } as const;
  await withOrigin(hello, options, async (client, { url }) => {
    const [first, second] = await Promise.allSettled([client.fetch(url), client.fetch(url)]);
    // The first may have gone out before the server's SETTINGS were there; node refuses it, or answers it.
    if (first.status === "fulfilled") await first.value.text();
    assert.ok(second.status === "rejected");
    assert.equal(second.reason.code, "REFUSED");
    assert.equal(client.stats().queued, 0);
  });
});

test("fetch() goes wherever a fetch function is taken", { skip: noHttp2Server }, async () => {
  await withOrigin(hello, { protocol: "h2" }, async ({ fetch }, { url }) => {
    const api: { readonly fetch: typeof globalThis.fetch } = { fetch };
    const { fetch: taken } = api;
    assert.equal(await (await taken(url, { method: "POST", body: "x" })).text(), "hello");
  });
});
