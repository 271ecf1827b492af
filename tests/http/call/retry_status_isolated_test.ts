import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import test from "node:test";
import { HttpClient, type HttpClientEvent, type HttpInterceptor, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { retryAfter } from "../../../lib/http/call/retries.ts";
import { until } from "../../support/waits.ts";
import { ErrorCode, Setting } from "../faults/http2_frames.ts";
import { Http2Peer } from "../faults/http2_peer.ts";
import { leavesNothing } from "../leaves_nothing.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const BUSY = [429, 503] as const;

/** Refuses the first `times` requests, and responds to later ones with the number of bytes in their body. */
function busy(times: number, fields: Record<string, string> = { "retry-after": "0" }, status = 503) {
  return (request: ServerRequest): void =>
    whenWhole(request, () => {
      if (times-- > 0) respond(request, status, Buffer.from("busy"), fields);
      else respond(request, 200, Buffer.from(String(request.received)));
    });
}

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  test(
    name("a status is no reason to try again unless retryStatuses has it"),
    () =>
      scene(protocol, {}, busy(9), async ({ client, url, requests }) => {
        const response = await client.fetch(`${url}/`);
        assert.equal(response.status, 503);
        assert.equal(await response.text(), "busy");
        const other = await client.fetch(`${url}/`, { retryStatuses: [429] });
        assert.equal(await other.text(), "busy");
        assert.equal(requests.length, 2);
      }),
  );

  test(name("a request of a status in retryStatuses is sent again, with its body, and onEvent is told"), async () => {
    const events: HttpClientEvent[] = [];
    const options = { retryStatuses: BUSY, onEvent: (event: HttpClientEvent) => void events.push(event) };
    await scene(protocol, options, busy(2, { "retry-after": "0" }, 429), async ({ client, url, requests }) => {
      const response = await client.fetch(`${url}/`, { method: "PUT", body: "x".repeat(100_000) });
      assert.equal(await response.text(), "100000");
      assert.equal(requests.length, 3);
      assert.equal(client.stats().retries, 2);
    });
    const retries = events.filter((event) => event.type === "retry");
    assert.deepEqual(retries.map(({ attempt, status, error }) => [attempt, status, error]), [
      [1, 429, undefined],
      [2, 429, undefined],
    ]);
    assert.ok(retries.every(({ ms }) => ms > 0 && ms <= 20));
  });

  test(
    name("after retries attempts the response is the caller's"),
    () =>
      scene(protocol, { retryStatuses: BUSY, retries: 1 }, busy(9), async ({ client, url, requests }) => {
        assert.equal(await (await client.fetch(`${url}/`)).text(), "busy");
        assert.equal(requests.length, 2);
        assert.equal(await (await client.fetch(`${url}/`, { retries: 3 })).text(), "busy");
        assert.equal(requests.length, 6);
      }),
  );

  test(
    name("a request that must not be sent twice, or cannot be, is not"),
    () =>
      scene(protocol, { retryStatuses: BUSY }, busy(9), async ({ client, url, requests }) => {
        assert.equal((await client.fetch(`${url}/`, { method: "POST", body: "x" })).status, 503);
        const body = new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(9));
            controller.close();
          },
        });
        assert.equal((await client.fetch(`${url}/`, { method: "PUT", body })).status, 503);
        assert.equal(requests.length, 2);
        const again = await client.fetch(`${url}/`, { method: "POST", body: "x", idempotent: true });
        assert.equal(again.status, 503);
        assert.equal(requests.length, 5);
      }),
  );

  test(
    name("a stream of which nothing was read goes over to the next attempt"),
    () =>
      scene(protocol, { retryStatuses: BUSY }, (request) => {
        if (request.path === "/1") respond(request, 503, Buffer.from(""), { "retry-after": "0" });
        else busy(0)(request);
      }, async ({ client, url, requests }) => {
        const body = (async function* () {
          yield new Uint8Array(9);
        })();
        const init = { method: "PUT", body, headers: { expect: "100-continue" }, retries: 1 };
        assert.equal((await client.fetch(`${url}/1`, init)).status, 503);
        assert.equal(requests.length, 2);
        assert.ok(requests.every(({ received }) => received === 0));
      }),
  );

  const refusals: Readonly<Record<string, (request: ServerRequest) => void>> = {
    "with a status in retryStatuses": (request) => respond(request, 503, Buffer.from(""), { "retry-after": "0" }),
    ...(protocol !== "http/1.1" && { "with REFUSED_STREAM": (request) => request.reset(ErrorCode.refusedStream) }),
  };
  for (const [how, refuse] of Object.entries(refusals)) {
    test(name(`a stream that is permitted and refused ${how} in one packet arrives whole, or not at all`), () => {
      let arrived = "";
      const onRequest = (request: ServerRequest): void => {
        request.socket.cork();
        request.inform(100);
        if (request.path === "/1" && requestsSeen++ === 0) refuse(request);
        else {
          request.onBytes = (bytes) => arrived += Buffer.from(bytes).toString();
          whenWhole(request, () => respond(request, 200, Buffer.from("ok")));
        }
        request.socket.uncork();
      };
      let requestsSeen = 0;
      return scene(protocol, { retryStatuses: BUSY }, onRequest, async ({ client, url }) => {
        const body = (async function* () {
          for (const text of ["first ", "second ", "third"]) yield Buffer.from(text);
        })();
        const init = { method: "PUT", body, headers: { expect: "100-continue" } };
        const outcome = await client.fetch(`${url}/1`, init).then(({ status }) => status, () => 0);
        assert.equal(arrived, outcome === 200 ? "first second third" : "");
      });
    });
  }

  test(
    name("a pause longer than maxRetryAfter, or than what is left of timeout, is not made"),
    () =>
      scene(protocol, { retryStatuses: BUSY }, busy(99, { "retry-after": "31" }), async ({ client, url, requests }) => {
        assert.equal(await (await client.fetch(`${url}/`)).text(), "busy");
        assert.equal(await (await client.fetch(`${url}/`, { timeout: 30_000, maxRetryAfter: 60_000 })).text(), "busy");
        assert.equal(requests.length, 2);
      }),
  );

  test(
    name("a pause longer than what interceptors have left of timeout is not made"),
    () =>
      scene(protocol, { retryStatuses: BUSY }, busy(99, { "retry-after": "31" }), async ({ client, url, requests }) => {
        const slow: HttpInterceptor = async (request, next) => {
          await new Promise((resolve) => setTimeout(resolve, 400));
          return await next(request);
        };
        const init = { intercept: [slow], timeout: 31_300, maxRetryAfter: 60_000 };
        assert.equal(await (await client.fetch(`${url}/`, init)).text(), "busy");
        assert.equal(requests.length, 1);
      }),
  );

  test(name("the signal, the timeout and destroy() end the pause"), () =>
    scene(
      protocol,
      { retryStatuses: BUSY },
      busy(99, { "retry-after": "20" }),
      async ({ client, url, requests }) => {
        const controller = new AbortController();
        const init = { signal: controller.signal, maxRetryAfter: 60_000 };
        const aborted = client.fetch(`${url}/`, init);
        await until(() => client.stats().retries === 1, "the retry");
        controller.abort("enough");
        await assert.rejects(aborted, (reason) => reason === "enough");
        assert.equal(requests.length, 1);

        const closing = new HttpClient({ h2c: protocol === "h2c", retryStatuses: BUSY });
        const destroyed = failureOf(closing.fetch(`${url}/`));
        await until(() => closing.stats().retries === 1, "the retry");
        closing.destroy();
        assert.equal(await destroyed, "CLIENT_CLOSED");
        await closing.close();
      },
    ));

  test(name("onEvent may abort at the retry"), async () => {
    const controller = new AbortController();
    const onEvent = ({ type }: HttpClientEvent): void => {
      if (type === "retry") controller.abort("told");
    };
    await scene(protocol, { retryStatuses: BUSY, onEvent }, busy(9), async ({ client, url, requests }) => {
      const { signal } = controller;
      await assert.rejects(client.fetch(`${url}/`, { signal }), (reason) => reason === "told");
      assert.equal(requests.length, 1);
    });
  });

  test(
    name("a refusal whose body never ends holds nothing up"),
    () =>
      scene(protocol, { retryStatuses: BUSY }, (request) => {
        if (request.path !== "/endless") return respond(request, 200, Buffer.from("well"));
        request.head(503, { "retry-after": "0" });
        request.data(Buffer.alloc(200_000));
      }, async ({ client, url }) => {
        const response = await client.fetch(`${url}/endless`);
        assert.equal(response.status, 503);
        await response.body!.cancel();
      }),
  );
}

test("Retry-After is seconds, or a date as the server's clock has it", () => {
  const of = (...headers: string[]): number | undefined => retryAfter(headers);
  assert.equal(of("retry-after", "120"), 120_000);
  assert.equal(of("retry-after", "0"), 0);
  assert.equal(of("date", "Sun, 06 Nov 1994 08:49:30 GMT", "retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), 7000);
  assert.equal(of("date", "Sun, 06 Nov 1994 08:49:30 GMT", "retry-after", "Sunday, 06-Nov-94 08:49:37 GMT"), 7000);
  assert.equal(of("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), 0);
  const soon = of("retry-after", new Date(Date.now() + 3_600_000).toUTCString())!;
  assert.ok(soon > 3_000_000 && soon <= 3_600_000);
  for (const value of ["", "soon", "-1", "1.5", "1e3", "120, 120", "Sun, 99 Nov 1994 08:49:37 GMT"]) {
    assert.equal(of("retry-after", value), undefined, value);
  }
  assert.equal(of("retry-after", "9".repeat(400)), Infinity);
  assert.equal(of(), undefined);
});

test("retryStatuses, retries and idempotent of a request are checked", async () => {
  await using client = new HttpClient();
  const wrong = [{ retryStatuses: null }, { retryStatuses: [99] }, { retries: -1 }, { idempotent: "false" }];
  for (const init of wrong as HttpRequestInit[]) {
    assert.equal(await failureOf(client.fetch("http://127.0.0.1:2/", init)), "INVALID_OPTION");
  }
});

for (const way of ["refuses them", "goes away", "answers with a status in retryStatuses"]) {
  test(`streams that wait for a window are sent whole by another attempt if the server ${way}`, () => {
    const arrived: string[] = [];
    let waiting = 4;
    let isWide = false;
    const onRequest = (request: ServerRequest): void => {
      const { peer } = request as unknown as { readonly peer: Http2Peer };
      if (request.method === "GET") return respond(request, 200, Buffer.from("ok"));
      if (--waiting >= 0) {
        if (way.startsWith("answers")) respond(request, 503, Buffer.from(""), { "retry-after": "0" });
        else if (way === "refuses them") request.reset(ErrorCode.refusedStream);
        else if (waiting === 0) peer.goaway(1, ErrorCode.none);
        isWide = waiting === 0;
        if (isWide) void peer.settings({ [Setting.initialWindowSize]: 65_535 });
        return;
      }
      let text = "";
      request.onBytes = (bytes) => text += Buffer.from(bytes).toString();
      whenWhole(request, () => {
        arrived.push(text);
        respond(request, 200, Buffer.from("ok"));
      });
    };
    const onSocket = (socket: Socket): void => {
      const settings = { [Setting.initialWindowSize]: isWide ? 65_535 : 0 };
      void new Http2Peer(socket, { settings, violations: [], onRequest });
    };
    return leavesNothing({ client: { h2c: true, retryStatuses: BUSY }, onSocket }, async ({ client, url }) => {
      await (await client.fetch(url)).text(); // from now on, the client knows the window
      const bodies = Array.from({ length: 4 }, (_, i) => `first ${i}, second, third`);
      const calls = bodies.map((text) => {
        const body = (async function* () {
          for (const part of text.split(/(?<=, )/)) yield Buffer.from(part);
        })();
        return client.fetch(url, { method: "PUT", body });
      });
      const outcomes = await Promise.all(calls.map((call) => call.then(({ status }) => status, String)));
      assert.deepEqual(outcomes, [200, 200, 200, 200]);
      assert.deepEqual(arrived.sort(), bodies);
    });
  });
}
