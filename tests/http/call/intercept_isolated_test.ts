import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  HttpClient,
  type HttpError,
  type HttpInterceptor,
  type HttpNext,
  type HttpRequest,
  type HttpRequestInit,
} from "../../../lib/http/mod.ts";
import { until, within } from "../../support/waits.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { failureOf } from "../faults/trial.ts";
import { PROTOCOLS, scene } from "../scene.ts";

/** Answers with the method, the path, a field and the length of the body. */
function echo(request: ServerRequest): void {
  whenWhole(request, () => {
    const { method, path, fields, received } = request;
    respond(request, 200, Buffer.from(`${method} ${path} ${fields.get("x-mill") ?? ""} ${received}`));
  });
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  test(name("interceptors are called in their order, the client's around the request's"), async () => {
    const log: string[] = [];
    const tracer = (mark: string): HttpInterceptor => async (request, next) => {
      log.push(`${mark}>`);
      request.headers.append("x-mill", mark);
      const response = await next({ ...request, url: `${request.url}${mark}` });
      log.push(`<${mark}`);
      return response;
    };
    await scene(protocol, { intercept: [tracer("a"), tracer("b")] }, echo, async ({ client, url }) => {
      const init = { method: "post", body: "grain", intercept: [tracer("c")], headers: { "x-mill": "0" } };
      const response = await client.fetch(`${url}/`, init);
      assert.equal(response.url, `${url}/abc`);
      assert.equal(await response.text(), "POST /abc 0, a, b, c 5");
      assert.deepEqual(log, ["a>", "b>", "c>", "<c", "<b", "<a"]);
      assert.deepEqual([...await response.trailers], []);
    });
  });

  test(name("fields that were given more than once are sent as without an interceptor"), async () => {
    const shown = ({ fields }: ServerRequest) => ["cookie", "x-mill", "accept"].map((name) => fields.get(name));
    await scene(protocol, {}, echo, async ({ client, url, requests }) => {
      const pairs = [["cookie", "a=1"], ["x-mill", "1"], ["Cookie", "b=2"], ["accept", "a/b"], [
        "cookie",
        "c=3",
      ]] as const;
      for (
        const headers of [pairs, new Map(pairs), { cookie: "a=1", Cookie: "b=2" }, new Headers({ cookie: "a=1; b=2" })]
      ) {
        await (await client.fetch(url, { headers })).text();
        await (await client.fetch(url, { headers, intercept: [(request, next) => next(request)] })).text();
        assert.deepEqual(shown(requests.at(-1)!), shown(requests.at(-2)!));
      }
      assert.equal(requests[1].fields.get("cookie"), "a=1; b=2; c=3");
    });
  });

  test(name("an interceptor sees all that fetch was called with, and not its interceptors"), async () => {
    const seen: HttpRequest[] = [];
    const look: HttpInterceptor = (request, next) => {
      seen.push(request);
      return next(request);
    };
    await scene(protocol, {}, echo, async ({ client, url }) => {
      const { signal } = new AbortController();
      const intercept = [look];
      await (await client.fetch(new URL(`${url}/1`), { intercept, signal, timeout: 9999, idempotent: false })).text();
      const headers = { "content-type": "text/x" };
      const request = new Request(`${url}/2`, { method: "PUT", body: "grain", headers });
      assert.equal(await (await client.fetch(request, { intercept })).text(), "PUT /2  5");
      assert.deepEqual({ ...seen[0], headers: [...seen[0].headers] }, {
        url: `${url}/1`,
        method: "GET",
        headers: [],
        signal,
        timeout: 9999,
        idempotent: false,
      });
      assert.equal(seen[1].method, "PUT");
      assert.equal(seen[1].headers.get("content-type"), "text/x");
    });
  });

  test(
    name("members of init that are undefined leave those of a Request as they are, as without interceptors"),
    async () => {
      const intercept: HttpInterceptor[] = [(request, next) => next(request)];
      const redirect = (request: ServerRequest): void => {
        if (request.path === "/moved") return echo(request);
        request.head(302, { location: "/moved" });
        request.end();
      };
      await scene(protocol, {}, redirect, async ({ client, url }) => {
        const none = { redirect: undefined, signal: undefined, integrity: undefined, body: undefined };
        const outcome = async (init: RequestInit, given: HttpRequestInit): Promise<unknown> => {
          const request = new Request(`${url}/`, init);
          try {
            const response = await client.fetch(request, given);
            await response.text();
            return response.status;
          } catch (reason) {
            return (reason as HttpError)?.code ?? reason;
          }
        };
        const integrity = "sha256-AAAA";
        const signal = AbortSignal.abort("before");
        for (
          const init of [{ redirect: "manual" }, { redirect: "error" }, { integrity }, { signal }] as RequestInit[]
        ) {
          // Bun's Request keeps neither redirect nor integrity in all cases.
          assert.deepEqual(await outcome(init, { ...none, intercept }), await outcome(init, none));
        }
        assert.equal(await outcome({ redirect: "manual" }, { ...none, intercept }), 302);
        assert.equal(await outcome({ signal }, { ...none, intercept }), "before");
      });
    },
  );

  test(name("next() may be called more than once while the body can be sent again"), async () => {
    const twice: HttpInterceptor = async (request, next) => {
      const first = await (await next(request)).text();
      return new Response(`${first}, ${await (await next(request)).text()}`);
    };
    const intercept = [twice];
    await scene(protocol, {}, echo, async ({ client, url, requests }) => {
      const send = (path: string, body: BodyInit): Promise<Response> =>
        client.fetch(`${url}${path}`, { method: "PUT", body, intercept });
      assert.equal(await (await send("/a", "grain")).text(), "PUT /a  5, PUT /a  5");
      const request = new Request(`${url}/b`, { method: "PUT", body: "grain" });
      assert.equal(await (await client.fetch(request, { intercept })).text(), "PUT /b  5, PUT /b  5");
      assert.equal(requests.length, 4);
      assert.equal(client.stats().requests, 4);
      const stream = (size: number, slow: boolean): ReadableStream => {
        let pulls = 0;
        return new ReadableStream({
          async pull(controller) {
            if (slow) await new Promise((resolve) => setTimeout(resolve, 20));
            if (pulls++ > 0) controller.close();
            else controller.enqueue(new Uint8Array(size));
          },
        });
      };
      assert.equal(await failureOf(send("/c", stream(9, false))), "INVALID_BODY");
      const slow = new Request(`${url}/d`, { method: "PUT", body: stream(9, true), duplex: "half" } as RequestInit);
      assert.equal(await failureOf(client.fetch(slow, { intercept })), "INVALID_BODY");
      assert.equal(requests.length, 6);
    });
  });

  test(
    name("what an interceptor throws is the call's failure, and ends the requests it has made"),
    () =>
      scene(protocol, {}, (request) => {
        request.head(200);
        request.data(Buffer.from("and then"));
      }, async ({ client, url, requests }) => {
        const error = new Error("no flour");
        const intercept: HttpInterceptor[] = [async (request, next) => {
          await next(request);
          throw error;
        }];
        await assert.rejects(client.fetch(`${url}/`, { intercept }), (reason) => reason === error);
        await until(() => requests[0].isGone, "the end of the request");
        const throws: HttpInterceptor = () => {
          throw error;
        };
        await assert.rejects(client.fetch(`${url}/`, { intercept: [throws] }), (reason) => reason === error);
      }),
  );

  test(
    name("abort, timeout and destroy() end a call whatever its interceptor waits for"),
    () =>
      scene(protocol, {}, echo, async ({ client, url }) => {
        const hang: HttpInterceptor = () => never();
        const controller = new AbortController();
        const aborted = client.fetch(`${url}/`, { intercept: [hang], signal: controller.signal });
        controller.abort("enough");
        await assert.rejects(aborted, (reason) => reason === "enough");
        assert.equal(await failureOf(client.fetch(`${url}/`, { intercept: [hang], timeout: 20 })), "TIMEOUT");
        const over = { intercept: [hang], signal: AbortSignal.abort("before") };
        await assert.rejects(client.fetch(`${url}/`, over), (reason) => reason === "before");

        const other = new HttpClient({ intercept: [hang] });
        const destroyed = failureOf(other.fetch(`${url}/`));
        other.destroy();
        assert.equal(await destroyed, "CLIENT_CLOSED");
        await within(other.close(), "close()");
        assert.equal(await failureOf(other.fetch(`${url}/`)), "CLIENT_CLOSED");
      }),
  );

  test(
    name("an aborted call ends the requests of its interceptors, and lets go of what they answer later"),
    () =>
      scene(protocol, {}, () => {}, async ({ client, url, requests }) => {
        const controller = new AbortController();
        let cancelled = 0;
        let again: Promise<unknown> = never();
        const late: HttpInterceptor = async (request, next) => {
          await next({ ...request, signal: null }).catch(() => {});
          again = next(request).catch((reason) => reason);
          return new Response(new ReadableStream({ cancel: () => void cancelled++ }));
        };
        const pending = client.fetch(`${url}/`, { intercept: [late], signal: controller.signal });
        await until(() => requests.length === 1, "the request");
        controller.abort("enough");
        await assert.rejects(pending, (reason) => reason === "enough");
        await until(() => requests[0].isGone, "the end of the request");
        await until(() => cancelled === 1, "the end of the late response");
        assert.equal(await within(again, "another next()"), "enough");
      }),
  );

  test(
    name("something like a Response that comes after the call has failed is let go of quietly"),
    () =>
      scene(protocol, {}, echo, async ({ client, url }) => {
        const controller = new AbortController();
        let answer = (_: Response): void => {};
        const late: HttpInterceptor = () => new Promise((resolve) => answer = resolve);
        const pending = client.fetch(`${url}/`, { intercept: [late], signal: controller.signal });
        controller.abort("enough");
        await assert.rejects(pending, (reason) => reason === "enough");
        answer({ status: 200, headers: new Headers() } as Response);
        await setImmediate(); // an unhandled rejection would fail the test
      }),
  );

  test(name("abort ends the body of an intercepted response"), () =>
    scene(protocol, {}, (request) => {
      request.head(200);
      request.data(Buffer.from("and then"));
    }, async ({ client, url }) => {
      const controller = new AbortController();
      const pass: HttpInterceptor = (request, next) => next(request);
      const response = await client.fetch(`${url}/`, { intercept: [pass], signal: controller.signal });
      const text = response.text();
      controller.abort("enough");
      await assert.rejects(text, (reason) => reason === "enough");
    }));

  test(name("requests may go on when the call is answered; close() waits for them, and takes no more"), async () => {
    let late: HttpNext | undefined;
    let first: HttpRequest | undefined;
    let fresh = "";
    const stale: HttpInterceptor = (request, next) => {
      first = request;
      late = next;
      void next(request).then(async (response) => fresh = await response.text());
      return new Response("stale");
    };
    await scene(protocol, {}, (request) => void setTimeout(() => echo(request), 10), async ({ client, url }) => {
      const other = new HttpClient({ h2c: protocol === "h2c" });
      const response = await other.fetch(`${url}/`, { intercept: [stale] });
      assert.equal(await response.text(), "stale");
      assert.equal(fresh, "");
      await within(other.close(), "close()");
      assert.equal(fresh, "GET /  0");
      assert.equal(await failureOf(late!(first!)), "CLIENT_CLOSED");
      assert.equal(client.stats().requests, 0);
    });
  });
}

test("a Request whose body was read or cancelled is refused before interceptors see it", async () => {
  await using client = new HttpClient();
  const intercept: HttpInterceptor[] = [
    (_, next) => next({ url: "data:,mill", method: "GET", headers: new Headers() }),
  ];
  const put = (): Request => new Request("https://mill.invalid/", { method: "PUT", body: "grain" });
  const read = put();
  const reader = read.body!.getReader();
  while (!(await reader.read()).done);
  reader.releaseLock();
  const cancelled = put();
  await cancelled.body!.cancel();
  for (const request of [read, cancelled]) {
    assert.equal(await failureOf(client.fetch(request, { intercept })), "INVALID_BODY");
  }
  const other = await client.fetch(read, { intercept, body: "flour" });
  assert.equal(await other.text(), "mill");
});

test("an interceptor may answer with any Response, and nothing is sent", async () => {
  await using client = new HttpClient();
  const made = Object.freeze(Response.json({ flour: 7 }, { status: 299 }));
  const mock: HttpInterceptor = () => made;
  const response = await client.fetch("https://mill.invalid/", { intercept: [mock, () => never()] });
  assert.equal(response.status, 299);
  assert.deepEqual(await response.json(), { flour: 7 });
  assert.equal(client.stats().requests, 0);
  const other = await client.fetch("https://mill.invalid/", {
    intercept: [async () => await Promise.resolve(new Response())],
  });
  assert.deepEqual([...await other.trailers], []);
});

test("an interceptor that gives no Response, and lists of other things, are refused", async () => {
  await using client = new HttpClient();
  const get = (intercept: unknown): Promise<Response> =>
    client.fetch("https://mill.invalid/", { intercept: intercept as HttpInterceptor[] });
  for (const nothing of [undefined, null, "page", {}]) {
    await assert.rejects(get([() => nothing]), /An interceptor must return a Response/);
  }
  await assert.rejects(get([(_: HttpRequest, next: HttpNext) => next(undefined as never)]), TypeError);
  for (const wrong of [5, [5], () => {}]) assert.equal(await failureOf(get(wrong)), "INVALID_OPTION");
  assert.throws(() => new HttpClient({ intercept: (() => {}) as never }), TypeError);
  const pass: HttpInterceptor = (request, next) => next(request);
  const bad = { intercept: [pass], headers: { "a b": "c" } };
  assert.equal(await failureOf(client.fetch("https://mill.invalid/", bad)), "INVALID_HEADER");
  assert.equal(await failureOf(client.fetch("mill", { intercept: [pass] })), "INVALID_URL");
  const timeout = { intercept: [pass], timeout: "soon" as never };
  assert.equal(await failureOf(client.fetch("https://mill.invalid/", timeout)), "INVALID_OPTION");
});
