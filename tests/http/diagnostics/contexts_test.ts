import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { Buffer } from "node:buffer";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { connect } from "node:net";
import test from "node:test";
import { HttpClient, type HttpClientOptions, type HttpRequestInit } from "../../../lib/http/mod.ts";
import { ReadableStream as OwnReadableStream } from "../../../lib/streams/mod.ts";
import { isLong } from "../../support/long_run.ts";
import { pause, until, within } from "../../support/waits.ts";
import { certificates } from "../certificates.ts";
import { Origin, type Protocol } from "../faults/origin.ts";
import { respond, type ServerRequest, whenWhole } from "../faults/server_request.ts";

const PROTOCOLS: readonly Protocol[] = isLong ? ["http/1.1", "h2c", "http/1.1 over TLS", "h2"] : ["http/1.1", "h2"];
const USERS = ["alice", "bob", "carol"] as const;

const user = new AsyncLocalStorage<string>();

/** A record of the callbacks that were called, and of those that saw the wrong context. */
class Notes {
  readonly calls = new Map<string, number>();
  readonly wrong: string[] = [];

  /** Called within a callback. @param of The user whose call it is about. */
  take(callback: string, of: string | undefined): void {
    this.calls.set(callback, (this.calls.get(callback) ?? 0) + 1);
    const sees = user.getStore();
    if (of === undefined || sees !== of) this.wrong.push(`${callback} of ${of} sees ${sees}`);
  }
}

/** Returns the owner of a URL or a path. */
function ownerOf(url: string): string | undefined {
  return USERS.find((name) => url.includes(`?${name}`));
}

const CHANNELS = [
  "undici:request:create",
  "undici:client:sendHeaders",
  "undici:request:bodySent",
  "undici:request:headers",
  "undici:request:trailers",
  "undici:request:error",
  "undici:client:beforeConnect",
  "undici:client:connected",
  "undici:client:connectError",
];

/** Subscribes to all channels; connections are made for the user in `turn`. */
function watch(notes: Notes, turn: { readonly of: string | undefined }): () => void {
  const listeners = CHANNELS.map((name) => {
    const listener = (message: unknown): void => {
      const { request } = message as { request?: { path: string } };
      notes.take(name, request === undefined ? turn.of : ownerOf(request.path));
    };
    subscribe(name, listener);
    return () => unsubscribe(name, listener);
  });
  return () => listeners.forEach((stop) => stop());
}

function answer(request: ServerRequest): void {
  const { path } = request;
  const query = path.slice(path.indexOf("?"));
  if (path.startsWith("/early")) {
    request.head(403);
    request.data(Buffer.from("early"));
    return request.end();
  }
  if (path.startsWith("/lost")) return request.reset(2);
  if (path.startsWith("/silent")) return;
  whenWhole(request, () => {
    if (path.startsWith("/informed")) request.inform(103, { link: "</a>" });
    const fields: Record<string, string> = path.startsWith("/last") ? { connection: "close" } : {};
    if (path.startsWith("/redirect")) respond(request, 307, Buffer.from("moved"), { location: `/fine${query}` });
    else if (path.startsWith("/busy") && !seen.has(path)) {
      respond(request, 503, Buffer.from("busy"), { "retry-after": "0" });
    } else if (path.startsWith("/stalls")) {
      request.head(200);
      request.data(Buffer.from("and then"));
    } else respond(request, 200, Buffer.from("fine"), fields["connection"] && isHttp1(request) ? fields : {});
    seen.add(path);
  });
}

/** Paths of the requests. */
const seen = new Set<string>();

function isHttp1(request: ServerRequest): boolean {
  return "isHolding" in request && !("peer" in request);
}

/** The steps of each user, one after the other; every callback of a call gets its owner. */
async function visit(client: HttpClient, url: string, name: string, notes: Notes): Promise<void> {
  let count = 0;
  const at = (path: string): string => `${url}${path}?${name}${++count}`;
  const note = (callback: string) => (): void => notes.take(callback, name);
  const upload: HttpRequestInit = {
    method: "POST",
    body: "x",
    onUploadProgress: note("onUploadProgress"),
    trailers: {
      "x-sum": async () => {
        notes.take("a trailer", name);
        await pause(1);
        notes.take("a trailer, later", name);
        return "42";
      },
    },
  };
  const own: HttpRequestInit = {
    onInformational: note("onInformational of a request"),
    intercept: [async (request, next) => {
      notes.take("an interceptor", name);
      const response = await next(request);
      notes.take("an interceptor, after next()", name);
      return response;
    }],
  };
  const pieces = [Buffer.from("a"), Buffer.from("b")];
  const source = (kind: string): UnderlyingDefaultSource<Uint8Array> => {
    const rest = [...pieces];
    return {
      pull: async (controller) => {
        notes.take(`pull() of ${kind}`, name);
        await pause(1);
        notes.take(`pull() of ${kind}, later`, name);
        const piece = rest.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
      cancel: note(`cancel() of ${kind}`),
    };
  };
  async function* generate(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of pieces) {
        notes.take("next() of an iterable", name);
        await pause(1);
        yield piece;
      }
    } finally {
      notes.take("return() of an iterable", name);
    }
  }
  const bodies = [
    (): BodyInit => new ReadableStream(source("a stream of the runtime's"), { highWaterMark: 0 }),
    (): BodyInit => new OwnReadableStream(source("a stream of ours"), { highWaterMark: 0 }) as unknown as BodyInit,
    (): BodyInit => generate() as unknown as BodyInit,
  ];
  for (const init of [own, {}]) {
    assert.equal(await (await client.fetch(at("/informed"), init)).text(), "fine");
    assert.equal(await (await client.fetch(at("/redirect"), { ...init, method: "POST", body: "x" })).text(), "fine");
    assert.equal(await (await client.fetch(at("/busy"), { ...init, retryStatuses: [503] })).text(), "fine");
    for (const make of bodies) {
      const body = (): BodyInit => make();
      assert.equal(await (await client.fetch(at("/fine"), { ...init, method: "POST", body: body() })).text(), "fine");
      // An answer before the body's end: the rest is not sent.
      await (await client.fetch(at("/early"), { ...init, method: "POST", body: body() })).text().catch(() => {});
      await assert.rejects(client.fetch(at("/silent"), { ...init, method: "POST", body: body(), headersTimeout: 30 }));
    }
    await (await client.fetch(at("/fine"), { ...init, ...upload })).text();
    await (await client.fetch(at("/redirect"), { ...init, ...upload })).text();
    await assert.rejects(client.fetch(at("/lost"), { ...init, method: "POST", body: "x", retries: 0 }));
    await assert.rejects(client.fetch(at("/silent"), { ...init, timeout: 10 }));
    const late = await client.fetch(at("/stalls"), { ...init, bodyTimeout: 10 });
    await assert.rejects(late.text());
    const controller = new AbortController();
    const aborted = client.fetch(at("/silent"), { ...init, signal: controller.signal });
    await pause(5);
    controller.abort();
    await assert.rejects(aborted);
    await (await client.fetch(at("/last"), init)).text();
    await assert.rejects(client.fetch(`http://refused.test:2/?${name}`, { ...init, retries: 0 }));
  }
  await pause(5);
}

function optionsOf(notes: Notes, turn: { readonly of: string | undefined }): HttpClientOptions {
  const find: LookupFunction = (host, options, callback) => {
    notes.take("lookup", turn.of);
    lookup(host.endsWith(".test") ? "localhost" : host, options, (error, address, family) => {
      notes.take("lookup, later", turn.of);
      callback(error, address, family);
    });
  };
  return {
    lookup: find,
    onEvent: (event) => {
      if ("url" in event) return notes.take(`onEvent ${event.type}`, ownerOf(event.url));
      if (event.type !== "disconnect") return notes.take(`onEvent ${event.type}`, turn.of);
      // An end of what calls share is none's.
      notes.calls.set("onEvent disconnect", 1);
      if (user.getStore() !== "the maker") notes.wrong.push(`onEvent disconnect sees ${user.getStore()}`);
    },
    onInformational: () => notes.take("onInformational", turn.of),
    intercept: [(request, next) => {
      notes.take("an interceptor of the client", ownerOf(request.url));
      return next(request);
    }],
    proxy: ({ origin }) => {
      assert.ok(origin.startsWith("http"));
      notes.take("proxy", turn.of);
      return undefined;
    },
  };
}

/** Options that go with some of the others only. */
const VARIANTS: Record<string, (notes: Notes, turn: { readonly of: string | undefined }) => HttpClientOptions> = {
  "allowAddress": (notes, turn) => ({
    ...optionsOf(notes, turn),
    allowAddress: () => {
      notes.take("allowAddress", turn.of);
      return true;
    },
  }),
  "connect": (notes, turn) => ({
    ...optionsOf(notes, turn),
    connect: async ({ hostname, port }) => {
      notes.take("connect", turn.of);
      await pause(1);
      notes.take("connect, later", turn.of);
      return connect({ host: hostname.endsWith(".test") ? "127.0.0.1" : hostname, port });
    },
  }),
};

for (const protocol of PROTOCOLS) {
  for (const [what, make] of Object.entries(VARIANTS)) {
    test(`every callback of a user sees the context of its own call, on new and on kept connections: with ${what} (${protocol})`, async () => {
      const notes = new Notes();
      const turn: { of: string | undefined } = { of: undefined };
      seen.clear();
      const origin = await new Origin(protocol, { onRequest: answer }).start();
      const tls = {
        ca: certificates.ca,
        checkServerIdentity: (): undefined => void notes.take("checkServerIdentity", turn.of),
      };
      const client = user.run(
        "the maker",
        () => new HttpClient({ h2c: protocol === "h2c", ...make(notes, turn), tls }),
      );
      const stop = watch(notes, turn);
      try {
        for (const name of USERS) {
          turn.of = name;
          await within(user.run(name, () => visit(client, origin.url, name, notes)), name);
        }
        await user.run("the maker", () => within(client.close(), "close()"));
        await until(() => notes.calls.has("onEvent disconnect"), "the end of a connection");
      } finally {
        stop();
        client.destroy();
        await origin.stop();
      }
      assert.deepEqual([...new Set(notes.wrong)], []);
      const isSecure = protocol === "h2" || protocol === "http/1.1 over TLS";
      const expected = [
        ...CHANNELS,
        "onInformational",
        "onInformational of a request",
        "onUploadProgress",
        "a trailer, later",
        "an interceptor, after next()",
        "an interceptor of the client",
        "proxy",
        "pull() of a stream of the runtime's, later",
        "cancel() of a stream of the runtime's",
        "pull() of a stream of ours, later",
        "cancel() of a stream of ours",
        "next() of an iterable",
        "return() of an iterable",
        ...["connect", "connectFailed", "request", "response", "retry", "failed"].map((type) => `onEvent ${type}`),
        ...what === "connect" ? ["connect, later"] : ["allowAddress", "lookup, later"],
        ...isSecure ? ["checkServerIdentity"] : [],
      ];
      assert.deepEqual(expected.filter((callback) => !notes.calls.has(callback)), []);
    });
  }
}

test("a connection that is made because another ends belongs to the call that waits for it", async () => {
  const notes = new Notes();
  const answers: (() => void)[] = [];
  const origin = await new Origin("http/1.1", {
    onRequest: (request) =>
      void answers.push(() => respond(request, 200, Buffer.from("fine"), { connection: "close" })),
  }).start();
  const turn: { of: string | undefined } = { of: undefined };
  const client = user.run("the maker", () => new HttpClient({ connections: 1, ...VARIANTS.allowAddress(notes, turn) }));
  const stop = watch(notes, turn);
  try {
    turn.of = "alice";
    const texts = USERS.map((name) =>
      user.run(
        name,
        async () => await (await client.fetch(`${origin.url.replace("127.0.0.1", "mill.test")}/?${name}`)).text(),
      )
    );
    for (const [index, name] of USERS.entries()) {
      await until(() => answers.length > index, `the request of ${name}`);
      turn.of = USERS[index + 1]; // for whom the next connection is
      answers[index]();
      assert.equal(await within(texts[index], name), "fine");
    }
    await client.close();
  } finally {
    stop();
    client.destroy();
    await origin.stop();
  }
  const ofConnections = /^(proxy|an interceptor)/;
  assert.deepEqual(notes.wrong.filter((each) => !ofConnections.test(each)), []);
  assert.ok(notes.calls.has("lookup"));
});
