import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import type { HttpClient, HttpClientEvent, HttpRequestInit } from "../../../lib/http/mod.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { pause, until } from "../../support/waits.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { Http1Peer } from "../faults/http1_peer.ts";
import { failureOf, outcomeOf } from "../faults/trial.ts";
import { leavesNothing } from "../leaves_nothing.ts";
import { PROTOCOLS, scene } from "../scene.ts";
import { isLong } from "../../support/long_run.ts";

/** The number of repetitions in which nothing may be held up: a connection that is given up is waited for, for a second. */
const TIMES = isLong ? 2 : 1;

/** A stream that never ends, and takes its time. */
async function drip(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
  await pause(5);
  controller.enqueue(new Uint8Array(9));
}

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  test(
    name("a redirect whose body stalls holds nothing up"),
    () =>
      scene(protocol, { queueTimeout: 30_000 }, (request) => {
        request.head(302, { location: "/fine", "content-length": "1000" });
        request.data(Buffer.from("and then"));
      }, async ({ client, url }) => {
        for (let i = 0; i < TIMES; i++) assert.equal(await (await client.fetch(`${url}/stalls`)).text(), "fine");
      }),
  );

  test(name("a redirect whose body is endless holds nothing up"), () =>
    scene(protocol, {}, (request) => {
      request.head(302, { location: "/fine" });
      request.data(Buffer.alloc(300_000));
    }, async ({ client, url }) => {
      for (let i = 0; i < TIMES; i++) assert.equal(await (await client.fetch(`${url}/endless`)).text(), "fine");
    }));

  test(
    name("requests that have ended leave no timer each, be each time limit of another length"),
    () =>
      scene(protocol, {}, () => {}, async ({ client, url }) => {
        using clock = new FakeClock();
        const fine = async (own: number): Promise<void> => {
          const limits = { timeout: 200_000 + own, headersTimeout: 300_000 + own, bodyTimeout: 400_000 + own };
          assert.equal(await (await client.fetch(`${url}/fine`, limits)).text(), "fine");
        };
        for (let own = 0; own < 100; own++) await fine(own);
        const before = clock.pending;
        for (let own = 0; own < 100; own++) await fine(1000 + own);
        assert.equal(clock.pending, before);
      }),
  );

  test(name("a redirect ends the upload of what was asked before"), async () => {
    let cancelled = 0;
    await scene(protocol, {}, (request) => {
      request.head(303, { location: "/fine", "content-length": "0" });
      if (protocol === "h2c") request.data(Buffer.alloc(0));
    }, async ({ client, url }) => {
      const body = new ReadableStream({ pull: drip, cancel: () => void cancelled++ });
      assert.equal(await (await client.fetch(`${url}/early`, { method: "POST", body })).text(), "fine");
      await until(() => cancelled === 1, "the end of the upload");
    });
  });

  for (const [status, method] of [[204, "GET"], [205, "GET"], [205, "POST"], [304, "GET"], [200, "HEAD"]] as const) {
    test(
      name(`a response ${status} to ${method} that does not end holds nothing up`),
      () =>
        scene(protocol, {}, (request) => {
          request.head(status, status === 205 ? { "content-length": "10" } : {});
          // In HTTP/1.1 those have no body, whatever the server thinks.
          if (protocol === "http/1.1" && status !== 205) request.end();
        }, async ({ client, url }) => {
          const init = { method, body: method === "POST" ? "x" : undefined };
          for (let i = 0; i < TIMES; i++) {
            const response = await client.fetch(`${url}/${status}`, init);
            assert.equal(response.status, status);
            assert.equal(response.body, null);
            assert.equal(await response.text(), "");
          }
        }),
    );
  }

  test(
    name("a request waits no longer than `queueTimeout` for a connection"),
    () =>
      scene(protocol, { queueTimeout: 50 }, (request) => request.head(200), async ({ client, url, requests }) => {
        const first = await client.fetch(`${url}/first`);
        const error = await client.fetch(`${url}/second`).then(() => undefined, (reason) => reason);
        assert.equal(error?.code, "QUEUE_TIMEOUT");
        assert.match(error.message, /\/second got no connection within 50 ms/);
        const patient = client.fetch(`${url}/fine/third`, { queueTimeout: 0 });
        await pause(100);
        await first.body!.cancel();
        assert.equal(await (await patient).text(), "fine");
        assert.deepEqual(requests.map(({ path }) => path), ["/first", "/fine/third"]);
      }),
  );

  const lateAt: Record<string, (request: ServerRequest) => void> = {
    "before the head": () => {},
    "in the body": (request) => {
      request.head(200);
      request.data(Buffer.from("and then"));
    },
    "in redirects": (request) =>
      void setTimeout(() => respond(request, 302, Buffer.from(""), { location: "/again" }), 20),
  };
  for (const [where, onRequest] of Object.entries(lateAt)) {
    test(
      name(`a request takes no longer than \`timeout\`, ${where}`),
      () =>
        scene(protocol, { maxRedirects: 1000 }, onRequest, async ({ client, url }) => {
          assert.equal(await outcomeOf(client.fetch(`${url}/late`, { timeout: 150 })), "TIMEOUT");
        }),
    );
  }

  test(
    name("`timeout` counts the queue and pauses between attempts"),
    () =>
      scene(protocol, { retries: 1000, timeout: 200 }, (request) => request.reset(0), async ({ client, url }) => {
        assert.equal(await failureOf(client.fetch(`${url}/lost`)), "TIMEOUT");
      }),
  );

  test(
    name("`timeout` does not end what is in time"),
    () =>
      scene(protocol, { timeout: 60_000 }, () => {}, async ({ client, url }) => {
        assert.equal(await (await client.fetch(`${url}/fine`)).text(), "fine");
      }),
  );

  // Whatever a hook does, and whenever: the request ends, once, and nothing of it is left.
  const doings: Record<string, (client: HttpClient, controller: AbortController) => void> = {
    "aborts": (_, controller) => controller.abort(new Error("the hook's")),
    "destroys the client": (client) => client.destroy(new Error("the hook's")),
  };
  const bodies: Record<string, () => HttpRequestInit> = {
    "": () => ({}),
    " with a stream": () => ({ method: "PUT", body: new ReadableStream({ pull: drip }) }),
  };
  for (const type of ["connect", "request", "response", "retry"] as const) {
    for (const [doing, act] of Object.entries(doings)) {
      for (const [kind, init] of Object.entries(bodies)) {
        if (type === "retry" && kind !== "") continue;
        test(name(`a hook that ${doing} at "${type}" ends the request${kind}`), async () => {
          const controller = new AbortController();
          const told: string[] = [];
          const requests: ServerRequest[] = [];
          const owner = {
            settings: {},
            violations: [],
            onRequest: (request: ServerRequest): void => {
              requests.push(request);
              if (type === "retry") request.reset(1);
              else if (request.path === "/redirect") respond(request, 302, Buffer.from(""), { location: "/" });
              else respond(request, 200, Buffer.from("x"));
            },
          };
          let client: HttpClient | undefined = undefined;
          const onEvent = (event: HttpClientEvent): void => {
            told.push(event.type);
            if (event.type === type) act(client!, controller);
          };
          await leavesNothing({
            client: { h2c: protocol === "h2c", onEvent },
            onSocket: (socket) =>
              void (protocol === "h2c" ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner)),
          }, async (made) => {
            client = made.client;
            const path = kind === "" && type === "response" ? "/redirect" : "/";
            const response = client.fetch(made.url + path, { ...init(), signal: controller.signal });
            const error = await response.then(() => undefined, (reason) => reason);
            assert.equal((doing === "aborts" ? error : error?.cause)?.message, "the hook's");
            await until(() => told.includes("failed"), "the failure");
            await pause(20);
            assert.equal(told.filter((each) => each === type).length, 1);
            assert.equal(told.filter((each) => each === "failed").length, 1);
            assert.equal(requests.length, type === "request" || type === "connect" ? 0 : 1);
          });
        });
      }
    }
  }

  test(name("a hook that starts a request on the connection that was meant for another"), async () => {
    const paths: string[] = [];
    let client: HttpClient | undefined = undefined;
    let inner: Promise<Response> | undefined = undefined;
    let isFirst = true;
    let url = "";
    const onEvent = (event: HttpClientEvent): void => {
      if (event.type !== "request" || isFirst === false) return;
      isFirst = false;
      inner = client!.fetch(`${url}/inner`, { method: "POST" });
    };
    const owner = {
      settings: {},
      violations: [],
      onRequest: (request: ServerRequest): void => {
        paths.push(request.path);
        respond(request, 200, Buffer.from(request.path));
      },
    };
    await leavesNothing({
      client: { h2c: protocol === "h2c", connections: 1, maxConcurrentStreams: 1, onEvent },
      onSocket: (socket) => void (protocol === "h2c" ? new Http2Peer(socket, owner) : new Http1Peer(socket, owner)),
    }, async (made) => {
      client = made.client;
      url = made.url;
      assert.equal(await (await client.fetch(`${url}/outer`, { method: "POST" })).text(), "/outer");
      assert.equal(await (await inner!).text(), "/inner");
      assert.deepEqual(paths, ["/inner", "/outer"]);
    });
  });
}

for (const protocol of PROTOCOLS) {
  test(`a redirect to nothing leads to itself, until it is one too many (${protocol})`, () =>
    scene(
      protocol,
      { maxRedirects: 3 },
      (request) => respond(request, 302, Buffer.alloc(0), { location: "" }),
      async (made) => {
        assert.equal(await failureOf(made.client.fetch(`${made.url}/circle`)), "REDIRECT_FAILED");
        assert.deepEqual(made.requests.map(({ path }) => path), Array(4).fill("/circle"));
      },
    ));
}
