import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import test from "node:test";
import { inspect } from "node:util";
import {
  HttpClient,
  type HttpClientEvent,
  type HttpClientOptions,
  type HttpRequestInit,
} from "../../../lib/http/mod.ts";
import { respond, type ServerRequest } from "../faults/server_request.ts";
import { within } from "../../support/waits.ts";
import { scene } from "../scene.ts";

/** URLs with a user name and password, of which some can be parsed and some cannot; of a host that is filled in. */
const SPELLINGS: readonly string[] = [
  "http://al1ce:s3cret@HOST/x?y",
  "http://al1ce:s3cret@HOST/p@th",
  "HTTP:al1ce:s3cret@HOST",
  "http:\\\\al1ce:s3cret@HOST",
  " \thttp://al1ce:s3cret@HOST/",
  "http://al1ce@HOST/p@th",
  "http://:s3cret@HOST/",
  "http://al1ce:s3%40cret@HOST/",
  "http://al1ce:s3/cret@HOST/",
  "http://al1ce:s3?cret@HOST/",
  "http://al1ce:s3cret@HOST:99999/",
  "http://al1ce:s3cret@[HOST",
  "http://al1ce:s3cret@/",
  "http://al1ce:s3cret@",
  "ftp://al1ce:s3cret@HOST/",
  "socks5://al1ce:s3cret@HOST/",
  "ws+unknown://al1ce:s3cret@HOST/",
  "blob:http://al1ce:s3cret@HOST/x",
  "//al1ce:s3cret@HOST/",
  "al1ce:s3cret@HOST",
];

/** Everything that a program could log of an error. */
function allOf(error: unknown): string {
  const shown = [inspect(error, { depth: 9, showHidden: true })];
  for (let at = error; typeof at === "object" && at !== null; at = (at as Error).cause) {
    for (const key of Reflect.ownKeys(at)) shown.push(String((at as Record<PropertyKey, unknown>)[key]));
  }
  return shown.join("\n");
}

function assertHidden(seen: unknown, what: string): void {
  const text = allOf(seen);
  // The frames of the test itself are left out.
  assert.doesNotMatch(text, /al1ce|s3cret|s3%40|s3\/cret|s3\?cret|\bcret@/, `${what}: ${text}`);
}

async function failureOf(promise: Promise<unknown>, what: string): Promise<unknown> {
  return await within(promise.then(() => assert.fail(`${what} was fetched`), (error) => error), what);
}

/** Ways to have a URL fail. */
const WAYS: Record<string, (client: HttpClient, url: string) => Promise<unknown>> = {
  "fetch()": (client, url) => client.fetch(url),
  "fetch() with a body": (client, url) => client.fetch(url, { method: "POST", body: "x" }),
  "an interceptor that passes it on": (client, url) => client.fetch(url, { intercept: [(each, next) => next(each)] }),
  "an interceptor that never answers": (client, url) =>
    client.fetch(url, { timeout: 5, intercept: [() => new Promise<never>(() => {})] }),
  "an interceptor that answers with nothing": (client, url) =>
    client.fetch(url, { intercept: [() => undefined as never] }),
  "a wrong option": (client, url) => client.fetch(url, { timeout: -1 } as HttpRequestInit),
  "a wrong header": (client, url) => client.fetch(url, { headers: { host: "x" } }),
};

test("no error shows the user name or password of a URL that it is about", async () => {
  const events: HttpClientEvent[] = [];
  const client = new HttpClient({ onEvent: (event) => void events.push(event) });
  const closed = new HttpClient();
  await closed.close();
  for (const spelling of SPELLINGS) {
    const url = spelling.replace("HOST", "127.0.0.1:2");
    for (const [how, fetch] of Object.entries(WAYS)) {
      for (const each of [client, closed]) {
        assertHidden(await failureOf(fetch(each, url), how), `${how} of ${spelling}`);
      }
    }
    const destroyed = new HttpClient();
    const pending = destroyed.fetch(url, { intercept: [() => new Promise<never>(() => {})] });
    destroyed.destroy();
    assertHidden(await failureOf(pending, "destroy()"), spelling);
  }
  for (const event of events) assertHidden(event, "an event");
  await client.close();
});

test("no error shows the value of a header, well-formed or not", async () => {
  const client = new HttpClient();
  const values = ["s3cret\n", "s3cret\0", "s3\ncret", "s3cret\u20ac", "\ufeffs3cret"];
  const headers: unknown[] = ["authorization: s3cret", [["authorization", "s3cret", "s3cret"]], [["s3cret"]], [
    "s3cret",
  ]];
  for (const value of values) headers.push({ authorization: value }, [["cookie", value]], new Map([["x-key", value]]));
  for (const each of headers) {
    for (const intercept of [[], [(request, next) => next(request)]] satisfies HttpRequestInit["intercept"][]) {
      const init = { headers: each as HttpRequestInit["headers"], intercept };
      const error = await failureOf(client.fetch("http://127.0.0.1:2/", init), JSON.stringify(each));
      assertHidden(error, JSON.stringify(each));
    }
  }
  await client.close();
});

test("no error shows the user name or password of a Location", () => {
  let location = "";
  const answer = (request: ServerRequest): void =>
    respond(request, 307, Buffer.from("moved"), { location: Buffer.from(location).toString("latin1") });
  return scene("http/1.1", { retries: 0 }, answer, async ({ client, url }) => {
    for (const spelling of SPELLINGS) {
      location = spelling.replace("HOST", "127.0.0.1:2").trim();
      if (spelling.startsWith("HTTP:al1ce")) continue; // from a server of http: it is a path
      const inits: HttpRequestInit[] = [{}, { redirect: "error" }, { intercept: [(each, next) => next(each)] }, {
        method: "POST",
        body: new ReadableStream(),
      }];
      for (const init of inits) assertHidden(await failureOf(client.fetch(url, init), spelling), spelling);
      location = `${location}é`;
      assertHidden(await failureOf(client.fetch(url), location), spelling);
    }
  });
});

test("no error shows the user name or password of a proxy", async () => {
  for (const spelling of SPELLINGS) {
    const proxy = spelling.replace("HOST", "127.0.0.1:2");
    const options: HttpClientOptions[] = [{ proxy }, { proxy: () => proxy }];
    for (const each of options) {
      const failed = (async () => await new HttpClient(each).fetch("http://127.0.0.1:2/"))();
      assertHidden(await failureOf(failed, spelling), spelling);
    }
  }
});
