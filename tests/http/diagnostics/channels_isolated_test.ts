import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import test from "node:test";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { until } from "../../support/waits.ts";
import { failureOf } from "../faults/trial.ts";
import { PROTOCOLS, scene } from "../scene.ts";

const NAMES = [
  "undici:request:create",
  "undici:client:beforeConnect",
  "undici:client:connected",
  "undici:client:connectError",
  "undici:client:sendHeaders",
  "undici:request:bodySent",
  "undici:request:headers",
  "undici:request:trailers",
  "undici:request:error",
];

/** A message in the form that undici documents. */
interface Message {
  request: {
    origin: string;
    method: string;
    path: string;
    headers: string[];
    completed: boolean;
    addHeader(name: string, value: string): void;
  };
  response: { statusCode: number; statusText: string; headers: Buffer[] };
  trailers: Buffer[];
  headers: string;
  socket: { remoteAddress: string; remotePort: number; alpnProtocol: string | undefined };
  connectParams: { host: string; hostname: string; port: string; protocol: string; servername: string | null };
  error: Error;
}

/** Calls `on` with the messages about a test's servers while `act` runs; `name` is the channel's short name. */
async function watching(on: (name: string, message: Message) => void, act: () => Promise<void>): Promise<string[]> {
  const log: string[] = [];
  const listeners = NAMES.map((name) => {
    const short = name.split(":")[2];
    const listener = (message: unknown): void => {
      log.push(short);
      on(short, message as Message);
    };
    subscribe(name, listener);
    return () => unsubscribe(name, listener);
  });
  try {
    await act();
  } finally {
    for (const stop of listeners) stop();
  }
  return log;
}

function path({ request }: Message): string {
  return request?.path;
}

function answer(request: ServerRequest): void {
  whenWhole(request, () => {
    request.head(200, { "x-mill": "on", trailer: "x-sum" });
    request.data(Buffer.from(request.fields.get("traceparent") ?? "none"));
    request.end({ "x-sum": "42" });
  });
}

for (const protocol of PROTOCOLS) {
  const name = (what: string): string => `${what} (${protocol})`;

  test(name("a request is told on undici's channels"), async () => {
    const seen = new Map<string, Message>();
    const log = await watching((name, message) => {
      if (path(message)?.startsWith("/fine")) return;
      seen.set(name, message);
      if (name === "create") message.request.addHeader("TraceParent", "00-1-2-01");
      if (name === "create") assert.equal(message.request.completed, false);
    }, () =>
      scene(protocol, {}, answer, async ({ client, url }) => {
        const init = { method: "POST", body: "grain", headers: { "user-agent": "miller" } };
        const response = await client.fetch(`${url}/grind?fine=1`, init);
        assert.equal(await response.text(), "00-1-2-01");
        await until(() => seen.has("trailers"), "the end");
        const { port } = new URL(url);
        const { request } = seen.get("create")!;
        assert.equal(request.origin, url);
        assert.equal(request.method, "POST");
        assert.equal(request.path, "/grind?fine=1");
        assert.equal(request.headers[request.headers.indexOf("user-agent") + 1], "miller");
        assert.equal(request.completed, true);
        for (const step of ["sendHeaders", "bodySent", "headers", "trailers"]) {
          assert.equal(seen.get(step)!.request, request, step);
        }
        const { headers, socket } = seen.get("sendHeaders")!;
        assert.match(headers, /^POST \/grind\?fine=1 HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n/);
        assert.match(headers, /\r\ntraceparent: 00-1-2-01\r\n$/);
        assert.equal(socket.remoteAddress, "127.0.0.1");
        assert.equal(socket.remotePort, Number(port));
        const { response: { statusCode, headers: fields } } = seen.get("headers")!;
        assert.equal(statusCode, 200);
        assert.ok(fields.every((field) => Buffer.isBuffer(field)));
        assert.equal(String(fields[fields.findIndex((field) => String(field) === "x-mill") + 1]), "on");
        assert.deepEqual(seen.get("trailers")!.trailers.map(String), ["x-sum", "42"]);
        const { connectParams } = seen.get("connected")!;
        assert.deepEqual(connectParams, {
          host: `127.0.0.1:${port}`,
          hostname: "127.0.0.1",
          port,
          protocol: "http:",
          servername: null,
        });
        assert.equal(seen.get("beforeConnect")!.connectParams, connectParams);
      }));
    assert.deepEqual(log.slice(0, 7), [
      "create",
      "beforeConnect",
      "connected",
      "sendHeaders",
      "bodySent",
      "headers",
      "trailers",
    ]);
  });

  test(name("each redirect and retry is a request of its own, and every one has an end"), async () => {
    const log: string[] = [];
    let busy = 1;
    const als = new AsyncLocalStorage<string>();
    await watching((step, message) => {
      if (message.request === undefined || path(message).startsWith("/fine")) return;
      if (step === "create") log.push(`${step} ${path(message)} ${als.getStore()}`);
      else if (step === "headers") log.push(`${step} ${path(message)} ${message.response.statusCode}`);
      else if (step === "trailers" || step === "error") log.push(`${step} ${path(message)}`);
    }, () =>
      scene(protocol, { retryStatuses: [503] }, (request) => {
        if (request.path === "/a") respond(request, 302, Buffer.from("elsewhere"), { location: "/b" });
        else if (busy-- > 0) respond(request, 503, Buffer.from("busy"), { "retry-after": "0" });
        else respond(request, 200, Buffer.from("well"));
      }, async ({ client, url }) => {
        await als.run("the caller's", async () => {
          assert.equal(await (await client.fetch(`${url}/a`)).text(), "well");
        });
        await until(() => log.length === 9, "the end");
      }));
    assert.deepEqual(log, [
      "create /a the caller's",
      "headers /a 302",
      "trailers /a",
      "create /b the caller's",
      "headers /b 503",
      "trailers /b",
      "create /b the caller's",
      "headers /b 200",
      "trailers /b",
    ]);
  });

  test(name("failures, aborts and what readers give up are told once"), async () => {
    const log: string[] = [];
    await watching((step, message) => {
      if (message.request === undefined || path(message).startsWith("/fine")) return;
      if (step === "error") log.push(`${path(message)} ${(message.error as { code?: string }).code ?? message.error}`);
      if (step === "error") assert.equal(message.request.completed, true);
      if (step === "trailers") log.push(`${path(message)} done`);
    }, () =>
      scene(protocol, { retries: 0 }, (request) => {
        if (request.path === "/lost") return request.reset(2);
        if (request.path === "/silent") return;
        request.head(200);
        request.data(Buffer.from("and then"));
      }, async ({ client, url }) => {
        await assert.rejects(client.fetch(`${url}/lost`));
        await assert.rejects(client.fetch(`${url}/silent`, { signal: AbortSignal.timeout(30) }));
        const controller = new AbortController();
        const aborted = client.fetch(`${url}/silent2?/silent`, { signal: controller.signal });
        controller.abort("enough");
        await assert.rejects(aborted);
        assert.equal(await failureOf(client.fetch(`${url}/silent`, { headersTimeout: 30 })), "HEADERS_TIMEOUT");
        await (await client.fetch(`${url}/cancelled`)).body!.cancel();
        const late = await client.fetch(`${url}/late`, { bodyTimeout: 30 });
        assert.equal(await failureOf(late.text()), "BODY_TIMEOUT");
      }));
    assert.deepEqual(log, [
      `/lost ${protocol === "h2c" ? "RESET" : "CONNECTION_LOST"}`,
      "/silent 23", // TimeoutError
      "/silent2?/silent 20", // AbortError
      "/silent HEADERS_TIMEOUT",
      "/cancelled done",
      "/late BODY_TIMEOUT",
    ]);
  });

  test(name("a subscriber may abort the request, or start another one"), async () => {
    for (const step of ["create", "sendHeaders", "headers", "trailers", "bodySent"]) {
      const controller = new AbortController();
      let ends = 0;
      let other: Promise<Response> | undefined;
      await scene(protocol, {}, answer, async ({ client, url }) => {
        await watching((name, message) => {
          if (message.request === undefined || path(message) !== "/") return;
          if (name === "trailers" || name === "error") ends++;
          if (name !== step) return;
          other = client.fetch(`${url}/other`);
          controller.abort("seen");
        }, async () => {
          const pending = client.fetch(`${url}/`, { signal: controller.signal }).then((response) => response.text());
          await assert.rejects(pending, (reason) => reason === "seen", step);
          assert.equal(await (await other!).text(), "none");
        });
      });
      assert.equal(ends, 1, step);
    }
  });

  test(
    name("what a subscriber adds is checked, and drops out if it cannot be sent"),
    () =>
      scene(protocol, {}, (request) => {
        respond(request, 200, Buffer.from([...request.fields].filter(([name]) => name.startsWith("x-")).join(" ")));
      }, async ({ client, url }) => {
        await watching((name, { request }) => {
          if (name !== "create") return;
          request.addHeader("x-good", "1");
          request.addHeader("x-bad", "1\r\nx-worse: 2");
          request.addHeader("x worse", "3");
          request.addHeader("transfer-encoding", "chunked");
          request.headers.push("X-Pushed", "4");
        }, async () => {
          assert.equal(await (await client.fetch(`${url}/`)).text(), "x-good,1 x-pushed,4");
        });
      }),
  );
}

test("a connection that is not made is told", async () => {
  const log = await watching((name, message) => {
    if (name === "connectError") assert.equal((message.error as { code?: string }).code, "CONNECTION_REFUSED");
  }, () =>
    scene("http/1.1", {}, answer, async ({ client }) => {
      assert.equal(await failureOf(client.fetch("http://127.0.0.1:2/")), "CONNECTION_REFUSED");
    }));
  assert.deepEqual(log.slice(0, 4), ["create", "beforeConnect", "connectError", "error"]);
});
