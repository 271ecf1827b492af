import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type Http2ServerRequest } from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import {
  HttpClient,
  type HttpClientEvent,
  type HttpClientOptions,
  type HttpError,
  type HttpRequestInit,
} from "../../../lib/http/mod.ts";
import { FakeClock } from "../../support/fake_clock.ts";
import { collectGarbage } from "../../support/garbage.ts";
import { pause, turn, until } from "../../support/waits.ts";
import type { Http2PeerStream } from "../faults/http2_peer_stream.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";
import { PROTOCOLS, scene } from "../scene.ts";

/** A body that continues at the test's command. */
class Source {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  isCancelled = false;
  #controller!: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>;

  constructor() {
    this.body = new ReadableStream({
      start: (controller) => void (this.#controller = controller),
      cancel: () => void (this.isCancelled = true),
    });
    this.give();
  }

  give(size: number = 1000): void {
    this.#controller.enqueue(new Uint8Array(size).fill(1));
  }

  end(): void {
    this.give();
    this.#controller.close();
  }

  fail(): void {
    this.#controller.error(new Error("disk gone"));
  }
}

interface Told {
  readonly request: ServerRequest;
  readonly source: Source;
  readonly response: Response;
  readonly failed: HttpError[];
  /** Steps of undici's channels. */
  readonly steps: string[];
}

const EARLY = Buffer.from("early");

/** Ways for the rest of a body to end after an early 2xx, with the code of the event `failed`, if any. */
const ends: Record<string, readonly [end: (told: Told) => void | Promise<void>, code: string | undefined]> = {
  "is sent": [({ source }) => source.end(), undefined],
  "fails at its source": [({ source }) => source.fail(), "BODY_FAILED"],
  "meets the end of the connection": [({ request }) => void request.socket.end(), "CONNECTION_LOST"],
  "meets a broken connection": [({ request }) => void request.socket.destroy(), "CONNECTION_LOST"],
  "is not taken within bodyTimeout": [({ request, source }) => {
    request.isHolding = true;
    source.give(8_000_000);
  }, "BODY_TIMEOUT"],
};

function meet(
  protocol: (typeof PROTOCOLS)[number],
  options: HttpClientOptions,
  act: (told: Told, close: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const failed: HttpError[] = [];
  const steps: string[] = [];
  const onEvent = (event: HttpClientEvent): void => {
    if (event.type === "failed") failed.push(event.error as HttpError);
  };
  const told = (message: unknown, name: string | symbol): void => {
    if ((message as { request: { path: string } }).request.path === "/early") steps.push(String(name).split(":")[2]);
  };
  const channels = ["bodySent", "trailers", "error"].map((step) => `undici:request:${step}`);
  for (const channel of channels) subscribe(channel, told);
  const answer = (request: ServerRequest): void => respond(request, 200, EARLY);
  return scene(protocol, {}, answer, async ({ url, requests }) => {
    const client = new HttpClient({ h2c: protocol === "h2c", ...options, onEvent });
    const source = new Source();
    const response = await client.fetch(`${url}/early`, { method: "POST", body: source.body });
    await until(() => requests[0].received > 0, "the first piece");
    await act({ request: requests[0], source, response, failed, steps }, () => client.close());
    requests[0].socket.resume();
    await until(() => client.stats().active === 0, "the end of the call");
    await client.close();
  }).finally(() => channels.forEach((channel) => unsubscribe(channel, told)));
}

test("h2c: a body that is cut behind its last byte, sent after the response, has failed while its server has not read it", () =>
  meet("h2c", {}, async ({ request, source, response, failed, steps }) => {
    assert.equal(await response.text(), "early");
    request.socket.pause();
    source.end();
    await until(() => steps.includes("trailers"), "the end of the call");
    request.socket.destroy();
    await until(() => failed.length > 0, "the event");
    assert.deepEqual(failed.map(({ code }) => code), ["CONNECTION_LOST"]);
  }));

for (const protocol of PROTOCOLS) {
  for (const [what, [end, code]] of Object.entries(ends)) {
    test(`${protocol}: what is left of a body after an early 2xx ${what}: onEvent is told ${code ?? "nothing"}`, () =>
      meet(protocol, { bodyTimeout: code === "BODY_TIMEOUT" ? 50 : 0 }, async (told) => {
        assert.equal(await told.response.text(), "early");
        await end(told);
        await until(() => told.request.isWhole || told.failed.length > 0, "the end");
        assert.deepEqual(told.failed.map((error) => error.code), code === undefined ? [] : [code]);
        assert.equal(told.request.isWhole, code === undefined);
        if (code === undefined) assert.equal(told.request.received, 2000);
        else if (code !== "BODY_FAILED") await until(() => told.source.isCancelled, "the end of the source");
        assert.deepEqual(told.steps, code === undefined ? ["bodySent", "trailers"] : ["error"]);
      }));
  }

  test(`${protocol}: a source that fails after an early 2xx fails the response that is unread`, () =>
    meet(protocol, {}, async ({ source, response, failed }) => {
      source.fail();
      await until(() => failed.length > 0, "the failure");
      await assert.rejects(response.text(), { code: "BODY_FAILED" });
    }));
}

test("h2c: a server that wants no more of a body after an early 2xx (NO_ERROR) is no failure", () =>
  meet("h2c", {}, async ({ request, source, response, failed, steps }) => {
    assert.equal(await response.text(), "early");
    request.reset(0);
    await until(() => source.isCancelled, "the end of the source");
    assert.deepEqual(failed, []);
    assert.deepEqual(steps, ["trailers"]);
  }));

test("h2c: after close() a server that takes its time has all of a body that it answered early", () =>
  meet("h2c", { closeTimeout: 0 }, async ({ request, source, response, failed }, close) => {
    assert.equal(await response.text(), "early");
    request.socket.pause();
    source.end();
    let isClosed = false;
    const closed = close().then(() => isClosed = true);
    for (let i = 0; i < 20; i++) await turn();
    assert.equal(isClosed, false);
    request.socket.resume();
    await closed;
    assert.ok(request.isWhole);
    assert.deepEqual(failed, []);
  }));

for (const protocol of PROTOCOLS) {
  /**
   * Sends a request whose server reads its body slowly, by small windows or through a slow stream of the user. Between
   * two steps of the body the client's mocked clock advances by `ms`, and some real time passes. The second step waits
   * for `held`.
   */
  const slowly = async (
    { ms = 0, held = Promise.resolve() }: { readonly ms?: number; readonly held?: Promise<void> },
    init: Pick<HttpRequestInit, "headersTimeout" | "bodyTimeout">,
    options: HttpClientOptions,
    answer: (request: ServerRequest) => void,
    act: (call: Promise<Response>, client: HttpClient, body: Uint8Array) => Promise<void>,
  ): Promise<void> => {
    using clock = new FakeClock();
    const step = (): Promise<void> => held.then(() => clock.turn(ms));
    let steps: ReturnType<typeof setInterval> | undefined;
    await scene(protocol, {}, (request) => {
      if (protocol === "h2c") {
        request.isHolding = true;
        steps = setInterval(async () => {
          if ((request as Http2PeerStream).room > 0) return;
          await step();
          request.isHolding = false;
          request.isHolding = true;
        }, 20);
      }
      answer(request);
    }, async ({ url, requests }) => {
      const connect = protocol === "h2c" ? undefined : slowConnection(step);
      const client = new HttpClient({ h2c: protocol === "h2c", connect, ...options });
      const body = new Uint8Array(900_000).fill(1);
      try {
        await act(client.fetch(`${url}/slowly`, { method: "POST", body, ...init }), client, body);
        await until(() => requests[0].isWhole || requests[0].isGone, "the end of the body");
        assert.ok(requests[0].isWhole);
        await client.close();
      } finally {
        clearInterval(steps);
        requests[0].isHolding = false;
        client.destroy();
      }
    });
  };

  test(`${protocol}: headersTimeout counts from the last progress of a body, also one in memory`, () =>
    slowly(
      { ms: 200 },
      { headersTimeout: 250 },
      {},
      (request) => whenWhole(request, () => respond(request, 200, EARLY)),
      async (call) => assert.equal(await (await call).text(), "early"),
    ));

  test(`${protocol}: closeTimeout does not cut a body whose response has been read, or that progresses`, () =>
    slowly({ ms: 80 }, {}, { closeTimeout: 100 }, (request) => respond(request, 200, EARLY), async (call, client) => {
      const response = await call;
      await Promise.all([client.close(), response.text()]);
    }));

  if (collectGarbage === undefined) continue;
  test(`${protocol}: the collection of an unread response does not cut the request's body`, () => {
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    return slowly({ held }, {}, {}, (request) => {
      request.head(200);
      request.data(EARLY);
      whenWhole(request, () => request.end());
    }, async (call, client) => {
      assert.equal(await call.then(({ status }) => status), 200);
      for (let times = 0; times < 5; times++) {
        await pause(20);
        collectGarbage!();
      }
      assert.equal(client.stats().active, 1);
      goOn();
    });
  });
}

for (const protocol of ["h1", "h2c"] as const) {
  if (collectGarbage === undefined) continue;
  test(`${protocol}: nor does it if the system has the body, and the server reads it later`, async () => {
    const size = 60_000; // the initial window of a stream
    const received = Promise.withResolvers<number>();
    const onRequest = (request: IncomingMessage | Http2ServerRequest, response: ServerResponse): void => {
      response.writeHead(200);
      response.write("early");
      setTimeout(async () => {
        let length = 0;
        for await (const chunk of request) length += chunk.length;
        response.end();
        received.resolve(length);
      }, 1500);
      request.on("error", received.reject);
    };
    const server = protocol === "h1" ? createServer(onRequest) : createHttp2Server(onRequest as never);
    await once(server.listen(0, "127.0.0.1"), "listening");
    await using client = new HttpClient({ h2c: protocol === "h2c" });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const body = new Uint8Array(size);
    assert.equal(await client.fetch(url, { method: "PUT", body }).then(({ status }) => status), 200);
    const collecting = setInterval(() => collectGarbage!(), 250);
    try {
      assert.equal(await received.promise, size);
    } finally {
      clearInterval(collecting);
      server.close();
    }
  });
}

/** Returns a function that makes connections which let 64 KiB through at a time, the next after `step`. */
function slowConnection(
  step: () => Promise<void>,
): (target: { readonly hostname: string; readonly port: number }) => Duplex {
  return ({ hostname, port }) => {
    const socket = connect({ host: hostname, port });
    const stream = new Duplex({
      read() {},
      write(bytes: Buffer, _encoding, done) {
        socket.write(bytes);
        setTimeout(() => void step().then(() => done()), 20);
      },
      final: (done) => void socket.end(done),
      destroy(error, done) {
        socket.destroy();
        done(error);
      },
    });
    socket.on("data", (bytes) => stream.push(bytes)).on("end", () => stream.push(null));
    socket.on("error", () => {}).on("close", () => stream.destroy());
    return stream;
  };
}
